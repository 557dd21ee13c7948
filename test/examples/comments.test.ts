import assert from "node:assert/strict";
import { exampleNames, readExample } from "../support/examples.ts";
import { catalogOf, names, withoutUnit } from "../editor/sources.ts";

/** What comments name that is neither a text of a dialog nor a node of the example. */
const elsewhere = {
  nodeRed:
    "Configuration nodes|Manage palette|Connect to|delimited by|Enabled|Setup|unused|all flows|serial in|tcp in|tcp out|e-mail|timeout",
  portal: "Enable Local API|Local API|Video Only|Video with Measurement",
  values: "complete|not-sent|refused|failed",
  dashboard: "ui-template|ui-chart|Cancel|Measure again",
  others: "remote instance|Idempotency-Key|parcel not measured|check the device",
  otherExamples: "The cloud reports",
};

const known = new Set(Object.values(elsewhere).flatMap((terms) => terms.split("|")));
for (const name of names) {
  for (const text of (await catalogOf(name)).values()) {
    known.add(withoutUnit(text));
  }
}

describe("the comments of the examples", () => {
  it("name fields, tabs and nodes as the editor shows them", async () => {
    const examples = await Promise.all(
      (await exampleNames()).map(async (file) => ({ file, nodes: await readExample(file) })),
    );
    const tabs = examples.flatMap(({ nodes }) => nodes.filter(({ type }) => type === "tab"));
    const labels = new Set(tabs.map(({ label }) => label));
    const wrong = examples.flatMap(({ file, nodes }) => {
      const variables = nodes.flatMap(({ env }) => (Array.isArray(env) ? env : []) as { name: string }[]);
      const own = new Set([...nodes.map(({ name }) => name), ...variables.map(({ name }) => name)]);
      const text = nodes.map(({ info }) => (typeof info === "string" ? info : "")).join("\n");
      const fields = [...text.matchAll(/(?<!\*)\*([^*\n]+)\*(?!\*)/g)].map(([, field = ""]) => field);
      // In lower case it is stress, and at the start of an item its subject.
      const bold = [...text.matchAll(/(?<!- )\*\*([A-Z][^*\n]+)\*\*/g)].map(([, node = ""]) => node);
      return [
        ...fields.filter((field) => !known.has(field) && !labels.has(field)),
        ...bold.filter((node) => !known.has(node) && !own.has(node)),
      ].map((what) => `${file}: ${what}`);
    });
    assert.deepEqual(wrong, []);
  });
});
