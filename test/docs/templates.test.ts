import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { root } from "./pages.ts";
import { readYaml } from "./yaml.ts";

const folder = join(root, ".github/ISSUE_TEMPLATE");
/** As much of GitHub's form schema as these forms use. */
const label = v.pipe(v.string(), v.nonEmpty());
const field = v.strictObject({
  type: v.picklist(["input", "textarea", "dropdown", "checkboxes"]),
  id: v.pipe(v.string(), v.regex(/^[a-z-]+$/)),
  attributes: v.strictObject({
    label,
    description: v.optional(v.string()),
    placeholder: v.optional(v.string()),
    render: v.optional(v.string()),
    options: v.optional(v.array(v.union([label, v.strictObject({ label })]))),
  }),
  validations: v.optional(v.strictObject({ required: v.boolean() })),
});
const text = v.strictObject({
  type: v.literal("markdown"),
  attributes: v.strictObject({ value: label }),
});
const form = v.strictObject({
  name: label,
  description: label,
  labels: v.array(label),
  body: v.array(v.variant("type", [field, text])),
});
const settings = v.strictObject({
  blank_issues_enabled: v.boolean(),
  contact_links: v.array(v.strictObject({ name: label, url: v.pipe(v.string(), v.url()), about: label })),
});

describe("the issue forms", () => {
  for (const name of readdirSync(folder)) {
    it(`${name} is one that GitHub shows`, () => {
      const content = readYaml(readFileSync(join(folder, name), "utf8"));
      if (name === "config.yml") {
        v.parse(settings, content);
        return;
      }
      const { body } = v.parse(form, content);
      const fields = body.filter((one) => one.type !== "markdown");
      const ids = fields.map(({ id }) => id);
      assert.deepEqual([...new Set(ids)], ids);
      for (const { type, id, attributes } of fields) {
        assert.equal(attributes.options !== undefined, type === "dropdown" || type === "checkboxes", id);
      }
    });
  }
});
