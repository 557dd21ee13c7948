import assert from "node:assert/strict";
import { join } from "node:path";
import { findViolations, readSources } from "./imports.ts";
import { layers } from "./layers.ts";

const root = join(import.meta.dirname, "..", "..");

describe("the layers of the sources", () => {
  it("hold for all sources", async () => {
    const sources = await readSources(root);
    const paths = sources.map(({ path }) => path);
    assert.ok(paths.length > 50, `only ${paths.length} sources`);
    assert.ok(paths.includes("src/index.ts") && paths.includes("nodes/measure/measure.ts"));
    assert.deepEqual(findViolations(sources), []);
  });

  it("name only layers further down", () => {
    const names = layers.map(({ name }) => name);
    for (const [at, { name, may }] of layers.entries()) {
      assert.deepEqual(
        may.filter((below) => !names.slice(at + 1).includes(below)),
        [],
        name,
      );
    }
  });

  const wrong: readonly (readonly [path: string, text: string])[] = [
    ["src/http/call.ts", `import { DeviceClient } from "../device/client.ts";`],
    ["src/http/call.ts", `import type { MeasureNode } from "../../nodes/measure/measure.ts";`],
    ["src/model/decode.ts", `import type {\n  Call,\n  Peer,\n} from "../http/call.ts";`],
    ["src/device/client.ts", `export * from "../cloud/client.ts";`],
    ["src/cloud/client.ts", `import { saveToFile } from "../media/save-to-file.ts";`],
    ["src/media/disk.ts", `const late = await import("../http/call.ts");`],
    ["src/runtime/action/serve.ts", `import { defaults } from "../../nodes/measure/measure.shared.ts";`],
    ["src/simulator/cloud.ts", `import { decode } from "../model/decode.ts";`],
    ["src/simulator/cloud.ts", `import "../errors/dimensioner-error.ts";`],
    ["src/media/disk.ts", `import type { Node } from "node-red";`],
    ["src/index.ts", `export { startSimulator } from "./simulator/index.ts";`],
    ["src/errors/codes.ts", `import { readFile } from "node:fs/promises";`],
    ["src/editor/form.ts", `import { join } from "node:path";`],
    ["nodes/measure/measure.ts", `import { startSimulator } from "../../src/simulator/index.ts";`],
    ["nodes/measure/measure.ts", `import { request } from "../../src/http/call.ts";`],
    ["nodes/measure/measure.ts", `import { defaults } from "../device/device.shared.ts";`],
    [
      "nodes/measure/measure.editor.ts",
      `import { errorCodes } from "../../src/errors/dimensioner-error.ts";`,
    ],
    ["nodes/measure/measure.editor.ts", `import { readFileSync } from "node:fs";`],
    [
      "nodes/measure/measure.shared.ts",
      `import { errorCodes } from "../../src/errors/dimensioner-error.ts";`,
    ],
    ["src/elsewhere/new.ts", ""],
    ["nodes/measure/helper.ts", ""],
  ];
  for (const [path, text] of wrong) {
    it(`refuse in ${path}: ${text === "" ? "a file without a layer" : text.replaceAll("\n", " ")}`, () => {
      assert.equal(findViolations([{ path, text }]).length, 1);
    });
  }

  it("let each layer import what lies below it", () => {
    const right = [
      ["nodes/measure/measure.ts", `import { defaults } from "./measure.shared.ts";`],
      ["nodes/measure/measure.ts", `import { serve } from "../../src/runtime/action/serve.ts";`],
      ["nodes/measure/measure.ts", `import type { Node } from "node-red";`],
      ["nodes/measure/measure.editor.ts", `import { form } from "../../src/editor/form.ts";`],
      ["src/device/client.ts", `import { call } from "../http/call.ts";`],
      ["src/http/call.ts", `import { request } from "undici";`],
    ] as const;
    assert.deepEqual(findViolations(right.map(([path, text]) => ({ path, text }))), []);
  });
});
