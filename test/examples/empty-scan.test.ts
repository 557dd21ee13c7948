import assert from "node:assert/strict";
import { exampleNames, readExample } from "../support/examples.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const scan = "Scan a parcel";
const whatToDo = "What to do";
/** The button that scans, and the debug node that shows what to correct. */
const rows = {
  "04": [scan, "Nothing happened: correct it and press again"],
  "05": [scan, whatToDo],
  "06": [scan, "Nothing happened: correct it"],
  "07": [scan, whatToDo],
  "09": ["Scan a parcel at dock 1", whatToDo],
  "12": ["Scan parcel A", whatToDo],
  "13": [scan, whatToDo],
  "14": [scan, "Not measured: correct it and scan again"],
  "15": [scan, whatToDo],
  "17": [scan, whatToDo],
  "18": [scan, whatToDo],
} as const;

describe("the examples, when a scan is empty", () => {
  let run: ExamplesRun;

  before(async () => {
    // No port for example 07's scanner, and a blank where each example has its barcode.
    run = await startExamples(Object.keys(rows), {
      adapt: (node) => {
        if (node.type === "inject" && node["payloadType"] === "str") {
          return { ...node, payload: " " };
        }
        return node.type === "tcp in" ? { ...node, d: true } : node;
      },
    });
  });
  after(() => run.close());

  for (const [example, [button, shown]] of Object.entries(rows)) {
    it(`${example} says so in one sentence, and does nothing`, async () => {
      const said = await run.press(example, button, [shown]);
      for (const text of said.values()) {
        // Example 18 shows the whole message.
        const sentence = text.startsWith("{")
          ? (JSON.parse(text) as { error: { message: string } }).error.message
          : text;
        assert.match(sentence, /^The scan is empty\b.* Nothing was (?:done|sent)\b/);
      }
      assert.deepEqual(run.simulator.requests, []);
    });
  }

  it("no example raises its own errors in JSONata, which would put an explanation of the parser before them", async () => {
    for (const name of await exampleNames()) {
      assert.doesNotMatch(JSON.stringify(await readExample(name)), /\$error\(/, name);
    }
  });
});
