import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { NodeAPI } from "node-red";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { problemOf } from "../../src/errors/interpolation.ts";
import { lookUp, translateError, unforeseenError } from "../../src/runtime/status/node-status.ts";

interface I18n {
  init(settings: { lang: string }): void;
  registerMessageCatalog(namespace: string, folder: string, file: string): Promise<void>;
  readonly _: NodeAPI["_"];
}

const catalog = "@dimflow/node-red-dimensioner/dimensioner-device";

describe("a text from outside in a sentence of Node-RED's catalogs", () => {
  const { i18n } = createRequire(import.meta.filename)("@node-red/util") as { i18n: I18n };
  const RED = { _: i18n._ } as NodeAPI;

  before(async () => {
    i18n.init({ lang: "en-US" });
    await i18n.registerMessageCatalog(
      catalog,
      join(import.meta.dirname, "../../nodes/device/locales"),
      "device.json",
    );
  });

  // The first one is replaced by another text where the library sees it; an open parenthesis keeps it busy for hours.
  for (const text of [`$t(${catalog}:common.label.cloud)`, "__problem__ and __field__", "$&"]) {
    it(`is shown as it is: ${text}`, () => {
      assert.equal(lookUp(RED, `${catalog}:common.label.cloud`), "Cloud");
      const values = { field: { verbatim: "msg.action" }, value: text, problem: { verbatim: "P." } };
      const facts = { surface: "disk", operation: "archive" } as const;
      const { message } = translateError(RED, new DimensionerError("inputValue", facts, values));
      assert.ok(message.includes(text), message);
    });
  }
});

describe("what was thrown and is no error", () => {
  for (const thrown of [
    Object.create(null),
    JSON.parse('{ "toString": 1 }'),
    undefined,
    Object.assign(new Error(), { message: {} }),
  ]) {
    it(`becomes an error with a text: ${typeof thrown}`, () => {
      assert.equal(typeof unforeseenError(thrown).message, "string");
      assert.ok("phrase" in problemOf(thrown) || "verbatim" in problemOf(thrown));
    });
  }
});
