import assert from "node:assert/strict";
import { fields } from "../../src/errors/phrases.ts";
import { checkInterval, nodeName, timeout } from "../../src/properties/common-properties.ts";
import { type PropertyTable, defaultsOf, newValuesOf } from "../../src/properties/property-table.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { names, propertiesOf } from "../editor/sources.ts";

const table = {
  name: nodeName,
  timeout: { ...timeout, default: 30 },
  checkInterval,
  most: { kind: "number", of: "amount", default: 2 },
  mode: { kind: "choice", of: ["one", "two"], default: "one" },
  isOn: { kind: "flag", default: true },
  value: { kind: "typed", default: "payload", type: "msg" },
  folder: { kind: "typed", default: "own", ifBlank: "", type: "str" },
  secret: { kind: "credential" },
} as const satisfies PropertyTable;

describe("a table of saved properties", () => {
  it("gives what holds where a flow says nothing, and what a new node is saved with", () => {
    const absent = {
      version: 1,
      name: "",
      timeout: 30,
      checkInterval: 0,
      most: 2,
      mode: "one",
      isOn: true,
      value: "payload",
      valueType: "msg",
      folder: "",
      folderType: "str",
    };
    assert.deepEqual(defaultsOf(table), absent);
    const { version, ...others } = absent;
    assert.equal(version, 1);
    assert.deepEqual(newValuesOf(table), { ...others, checkInterval: 30, folder: "own" });
  });

  it("gives its types", () => {
    const saved = defaultsOf(table);
    const { mode, isOn, most, valueType }: typeof saved = saved;
    const known: [mode: "one" | "two", isOn: string | boolean, most: string | number, type: string] = [
      mode,
      isOn,
      most,
      valueType,
    ];
    assert.equal(known.length, 4);
    // @ts-expect-error A credential is not among the saved properties.
    assert.equal(saved.secret, undefined);
  });

  it("gives what the runtime reads, durations in milliseconds", () => {
    const reader = new SettingsReader("device");
    const saved = { ...defaultsOf(table), timeout: "2.5", checkInterval: "" };
    const { timeoutMs, checkIntervalMs, most, mode }: ReturnType<typeof reader.read<typeof table>> =
      reader.read(table, saved);
    assert.deepEqual([timeoutMs, checkIntervalMs, most, mode], [2500, 0, 2, "one"]);
    for (const wrong of [{ timeout: "0" }, { most: 0 }, { mode: "three" as "one" }]) {
      assert.throws(() => reader.read(table, { ...saved, ...wrong }), { code: "ERR_CONFIG" });
    }
  });

  it("gives check boxes whose value is text, as that of an environment variable is", () => {
    const reader = new SettingsReader("node");
    for (const byDefault of [true, false]) {
      const withFlag = { isOn: { kind: "flag", default: byDefault } } as const;
      const read = (isOn: unknown): boolean =>
        reader.read(withFlag, Object.assign(defaultsOf(withFlag), { isOn })).isOn;
      assert.deepEqual([true, "true", " true "].map(read), [true, true, true]);
      assert.deepEqual([false, "false", "false\n"].map(read), [false, false, false]);
      assert.deepEqual([undefined, null, "", " "].map(read), Array(4).fill(byDefault));
      for (const wrong of ["perhaps", "${PRUNE_DRY_RUN}", "TRUE", 1, 0, {}]) {
        assert.throws(() => read(wrong), { code: "ERR_CONFIG" });
      }
    }
  });

  it("names nothing that a sentence about it could not name", async () => {
    for (const name of names) {
      for (const [property, { kind }] of Object.entries(await propertiesOf(name))) {
        if (kind === "number" || kind === "choice" || kind === "flag") {
          const isNamed = property === "failures" || fields.some((field) => field === property);
          assert.ok(isNamed, `${name}: ${property} is not among the fields in src/errors/phrases.ts`);
        }
      }
    }
  });
});
