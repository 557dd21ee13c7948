import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { currentVersion, isKnown, migrate, type Steps } from "../../src/properties/migrations.ts";
import { defaultsOf, names } from "../editor/sources.ts";

const type = "dimensioner-measure";

/** As two later versions might change a type. */
const steps: Steps = {
  [type]: [
    (saved) => ({ ...saved, wait: Number(saved["wait"]) * 1000 }),
    (saved) => ({ ...saved, failures: saved["failures"] === "output" ? "second-output" : "catch" }),
  ],
};

describe("migrations of saved properties", () => {
  const old = Object.freeze({ id: "1", wait: "5", failures: "output", ownField: { of: "somebody" } });

  it("takes what is saved without a version through every step", () => {
    assert.deepEqual(migrate(type, old, steps), {
      ...old,
      wait: 5000,
      failures: "second-output",
      version: 3,
    });
  });

  it("takes what is saved with a version through the later steps alone", () => {
    const migrated = migrate(type, { ...old, wait: 5000, version: 2 }, steps);
    assert.deepEqual(migrated, { ...old, wait: 5000, failures: "second-output", version: 3 });
  });

  it("changes nothing the second time", () => {
    const once = migrate(type, old, steps);
    assert.equal(migrate(type, once, steps), once);
  });

  it("leaves types without steps as they are, also without a version", () => {
    assert.equal(migrate("dimensioner-cloud", old, steps), old);
  });

  for (const version of [4, 99, 0, -1, 1.5, Number.NaN, "2", "next", {}, true]) {
    it(`neither knows nor touches version ${JSON.stringify(version)}`, () => {
      const saved = { ...old, version };
      assert.equal(isKnown(type, saved, steps), false);
      assert.equal(migrate(type, saved, steps), saved);
    });
  }

  for (const version of [undefined, null, 1, 2, 3]) {
    it(`knows version ${String(version)}`, () => assert.ok(isKnown(type, { version }, steps)));
  }

  for (const name of names) {
    it(`${name} is saved with its present version`, async () => {
      assert.equal((await defaultsOf(name))["version"], currentVersion(`dimensioner-${name}`));
    });
  }

  it("in the editor, brings nodes up to date as they arrive, and those of others never", async () => {
    const listeners: ((node: object) => void)[] = [];
    const on = (event: string, listener: (node: object) => void): void => {
      if (event === "nodes:add") {
        listeners.push(listener);
      }
    };
    // The editor's code is no part of the program that the tests are checked in.
    const editor = (await import(
      String(new URL("../../src/editor/fields.ts", import.meta.url))
    )) as EditorHalf;
    Reflect.set(globalThis, "RED", { events: { on }, _: (key: string) => key });
    try {
      editor.migrateOnArrival(steps);
      const nodes = [
        { ...old, type },
        { ...old, type, version: 99 },
        { ...old, type: "inject" },
      ];
      for (const node of nodes) {
        listeners.forEach((listener) => listener(node));
      }
      assert.deepEqual(nodes, [
        { ...old, type, wait: 5000, failures: "second-output", version: 3 },
        { ...old, type, version: 99 },
        { ...old, type: "inject" },
      ]);
      const { fieldsOf } = (await import(
        String(new URL("../../src/editor/fields.ts", import.meta.url))
      )) as FieldsHalf;
      const { checkNode } = fieldsOf(type, {}, () => "");
      assert.deepEqual([checkNode({}, undefined), checkNode({}, 1)], [true, true]);
      assert.match(String(checkNode({}, 99)), /configNewer/);
    } finally {
      Reflect.deleteProperty(globalThis, "RED");
    }
  });

  it("has a flow of each version that was published, and leaves what is up to date untouched", async () => {
    const file = join(import.meta.dirname, "../fixtures/flows/0.1.0.json");
    const nodes = JSON.parse(await readFile(file, "utf8")) as { type: string }[];
    const ours = nodes.filter((node) => node.type.startsWith("dimensioner-"));
    assert.deepEqual(ours.map((node) => node.type.slice("dimensioner-".length)).toSorted(), names);
    for (const node of ours) {
      assert.equal(migrate(node.type, { ...node, version: 1 })["version"], 1);
    }
  });

  interface EditorHalf {
    migrateOnArrival(steps: Steps): void;
  }

  interface FieldsHalf {
    fieldsOf(
      type: string,
      table: object,
      now: () => string,
    ): {
      checkNode(node: object, version: unknown): true | string;
    };
  }
});
