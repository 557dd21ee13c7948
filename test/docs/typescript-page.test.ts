import assert from "node:assert/strict";
import * as library from "../../src/index.ts";
import { blocksIn, readPages } from "./pages.ts";

const pages = readPages().filter(({ path }) => path === "docs/typescript.md");
const page = pages.map(({ text }) => text).join("");
const examples = blocksIn(pages, "ts")
  .map(({ text }) => text)
  .join("\n");

describe("docs/typescript.md", () => {
  it("uses everything that the library exports in an example", () => {
    const unused = Object.keys(library).filter((name) => !new RegExp(`\\b${name}\\b`).test(examples));
    // The error class, whose guard is in the examples.
    assert.deepEqual(unused, ["DimensionerError"]);
  });

  it("has the signature of every function, class and method", () => {
    const methods = [library.CloudClient, library.DeviceClient].flatMap(({ name, prototype }) =>
      Object.entries(Object.getOwnPropertyDescriptors(prototype))
        .filter(
          ([method, { value }]) => typeof value === "function" && !["close", "constructor"].includes(method),
        )
        .map(([method]) => `${name === "CloudClient" ? "cloud" : "device"}.${method}`),
    );
    const functions = Object.entries(library).flatMap(([name, value]) =>
      typeof value === "function" && name !== "DimensionerError" ? [name] : [],
    );
    const missing = [...methods, ...functions].filter(
      (name) => !new RegExp(`\`(?:new )?${name}\\(`).test(page),
    );
    assert.deepEqual(missing, []);
  });
});
