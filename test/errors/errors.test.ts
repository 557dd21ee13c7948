import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  DimensionerError,
  type Surface,
  errorCodes,
  isRetryable,
} from "../../src/errors/dimensioner-error.ts";
import {
  ProblemError,
  type Values,
  field,
  interpolate,
  phrase,
  problemOf,
  verbatim,
} from "../../src/errors/interpolation.ts";
import { type SentenceKey, nodeWordings, nodes, sentences } from "../../src/errors/sentences.ts";

const keys = Object.keys(sentences) as SentenceKey[];
/** Each wording of each sentence as the library says it, without those that only nodes say. */
const libraryWordings = keys
  .filter((key) => !Object.hasOwn(nodes, key))
  .flatMap((key) => {
    const { cloud, unknownOutcome } = sentences[key];
    const wordings = Object.entries({ "": sentences[key], cloud, unknownOutcome });
    return wordings.flatMap(([variant, wording]) =>
      wording === undefined ? [] : [[`${key} ${variant}`, wording] as const],
    );
  });
const everyWording = [...libraryWordings, ...nodeWordings];
const facts = { surface: "newer-device", operation: "measure" } as const;

async function sourceFiles(): Promise<string[]> {
  const root = join(import.meta.dirname, "../..");
  const folders = ["src", "nodes"].map(async (folder) =>
    (await readdir(join(root, folder), { recursive: true })).map((file) => join(root, folder, file)),
  );
  return (await Promise.all(folders)).flat().filter((file) => file.endsWith(".ts"));
}

describe("errors", () => {
  it("have a sentence for every code, and a code of the contract for every sentence", () => {
    const used = new Set(keys.map((key) => sentences[key].code));
    assert.deepEqual([...used].toSorted(), [...errorCodes].toSorted());
  });

  it("say what happened and what to do, in whole sentences", () => {
    for (const [key, { text, hint }] of everyWording) {
      assert.match(text, /^[A-Z“_].*\.$/, key);
      assert.match(hint, /^([A-Z].*\.|__path__)$/, key);
      assert.doesNotMatch(text, /\b(undefined|null|exception|ECONN)/i, key);
    }
  });

  it("speak of options in the library, and of deploying, messages and nodes only where a node says them", async () => {
    const words = /\bdeploy|\bnodes?\b(?!\.js)|\bmsg\b|debug|palette|Node-RED|\bflow/i;
    for (const [key, { text, hint }] of libraryWordings) {
      assert.doesNotMatch(`${text} ${hint}`, words, key);
    }
    for (const [key, { text, hint }] of nodeWordings) {
      assert.doesNotMatch(`${text} ${hint}`, /\boptions?\b|\bclient\b|Ms\b/, key);
    }
    // What has one text alone, in a node's words, is said by nodes alone.
    const library = (await sourceFiles()).filter((file) =>
      /\/src\/(cloud|device|http|library|media)\//.test(file),
    );
    for (const file of library) {
      const source = await readFile(file, "utf8");
      const used = Object.keys(nodes).filter((key) => source.includes(`"${key}"`));
      assert.deepEqual(used, [], file);
    }
  });

  it("have their node's wording under the key that the error names", () => {
    for (const key of keys) {
      for (const surface of ["newer-device", "cloud"] as const) {
        for (const outcome of [null, "not-sent", "unknown"] as const) {
          const error = new DimensionerError(key, { ...facts, surface, outcome });
          const wording = nodeWordings.get(error.textKey);
          assert.ok(wording !== undefined, error.textKey);
          assert.ok(error.textKey === key || error.textKey.startsWith(`${key}_`));
        }
      }
    }
  });

  it("are standard errors, with code and details as own properties", () => {
    const error = new DimensionerError(
      "timeout",
      { ...facts, outcome: "unknown" },
      { host: "dock", seconds: 3 },
    );
    assert.equal(
      error.message,
      "No complete response from dock within 3 s. Check the device before you try again: it may have acted.",
    );
    assert.equal(error.name, "DimensionerError");
    assert.equal(String(error), `DimensionerError: ${error.message}`);
    assert.ok(error.stack?.startsWith(String(error)));
    assert.ok(!Object.hasOwn(error, "cause"));
    assert.ok(Object.hasOwn(error, "code") && Object.hasOwn(error, "details"));
    assert.equal(Object.getPrototypeOf(error.details), Object.prototype);
    assert.deepEqual(JSON.parse(JSON.stringify(error.details)), error.details);
  });

  it("are retryable only when that is safe and may help", () => {
    const retryable = (key: SentenceKey, outcome: DimensionerError["details"]["outcome"]): boolean =>
      isRetryable(new DimensionerError(key, { ...facts, outcome }));
    assert.equal(retryable("unreachableRefused", "not-sent"), true);
    assert.equal(retryable("httpBusy", "refused"), true);
    assert.equal(retryable("timeout", null), true);
    assert.equal(retryable("timeout", "unknown"), false);
    assert.equal(retryable("measureFailed", "failed"), false);
    assert.equal(retryable("inputMissing", "not-sent"), false);
    assert.equal(isRetryable(new Error("another")), false);
  });

  it("send a person to the device where it may have acted, and nowhere else", () => {
    const keys = ["timeout", "http", "httpBusy", "connectionLost", "cancelledClose"] as const;
    for (const surface of ["newer-device", "earlier-device", "cloud"] as const) {
      for (const key of keys) {
        const said = (outcome: DimensionerError["details"]["outcome"]): string =>
          new DimensionerError(key, { ...facts, surface, outcome }).message;
        assert.match(said("unknown"), /Check the device before/, `${surface} ${key}`);
        for (const outcome of [null, "not-sent", "refused"] as const) {
          assert.doesNotMatch(said(outcome), /Check the device before/, `${surface} ${key} ${outcome}`);
        }
      }
    }
  });

  it("speak of power and Enable Local API only where there is a device", () => {
    for (const key of ["unreachableRefused", "unreachableSilent"] as const) {
      const said = (surface: Surface): string => {
        const { message, details } = new DimensionerError(key, { ...facts, surface }, { host: "there" });
        return `${message} ${details.hint}`;
      };
      assert.match(said("newer-device"), /power/);
      assert.match(said("cloud"), /^No connection to there.* the network and the firewall/);
      assert.doesNotMatch(said("cloud"), /power|Local API/);
    }
  });

  it("say in English what fills them, phrases within phrases too", () => {
    const values: Values = {
      field: field("address"),
      value: "0",
      problem: phrase("oneOf", { choices: ["http", "https"] }),
    };
    const { message, details } = new DimensionerError("inputValue", facts, values);
    assert.equal(message, "“0” is not valid for address: it must be one of http, https. Nothing was sent.");
    assert.equal(details.hint, sentences.inputValue.hint);
    const code = phrase("noErrorCode");
    const failed = new DimensionerError("measureFailed", facts, { problem: phrase("errorCode", { code }) });
    assert.match(failed.message, /^Measurement failed: error code missing\. /);
    const missing = [phrase("lastPart"), verbatim("video/mp4")];
    const incomplete = new DimensionerError("mediaIncomplete", facts, { seconds: 3, missing });
    assert.match(incomplete.message, /missing: the last part, video\/mp4\./);
  });

  it("tell what others said from our own words, and never take ours for theirs", async () => {
    assert.deepEqual(problemOf(new ProblemError(phrase("notJson"))), phrase("notJson"));
    assert.deepEqual(problemOf(new Error("socket hang up.")), verbatim("socket hang up"));
    assert.deepEqual(problemOf(new Error("")), phrase("unknownCause"));
    // The types ask whose words a value is; a literal is ours whatever it is called. Names of properties are no words.
    const names = /^(?:msg\.[\w.]*\$\{.*\}|msg(?:\.\w+)+|(?:\$\{[^}]*\}|[ –.])+)$/;
    const literals: string[] = [];
    for (const file of await sourceFiles()) {
      const texts = (await readFile(file, "utf8")).matchAll(/\bverbatim\(\s*(["'`])(.*?)\1/g);
      literals.push(...[...texts].map(([, , text = ""]) => text));
    }
    assert.ok(literals.length > 5, literals.join());
    assert.deepEqual(
      literals.filter((text) => !names.test(text)),
      [],
    );
  });

  it("keep a mark that nobody fills in, so that a slip is seen", () => {
    assert.equal(interpolate("__a__ and __b__", { a: 1 }), "1 and __b__");
    assert.equal(interpolate("__constructor__", {}), "__constructor__");
  });

  it("stand in the table of the architecture page, each of them", async () => {
    const page = await readFile(new URL("../../ARCHITECTURE.md", import.meta.url), "utf8");
    for (const code of errorCodes) {
      assert.ok(page.includes(code), code);
    }
  });
});
