import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { simulator } from "../../src/cli/simulator.ts";
import { controlRoutes } from "../../src/simulator/control-routes.ts";
import { scanCommand, scannerSettings } from "../../src/simulator/scanner-bodies.ts";
import { symbologies } from "../../src/simulator/scanner-types.ts";
import {
  connectionFault,
  headerFault,
  lostResponseFault,
  replacedResponseFault,
  slowFault,
} from "../../src/simulator/fault-kinds.ts";

const kinds = [
  ...connectionFault.options,
  ...lostResponseFault.options,
  ...slowFault.options,
  ...replacedResponseFault.options,
  ...headerFault.options,
];

describe("simulator: documentation", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/simulator.md"), "utf8");

  it("names every request of the control port", () => {
    const missing = Object.keys(controlRoutes).filter((route) => !page.includes(`\`${route}`));
    assert.deepEqual(missing, []);
  });

  it("names every kind of fault with all its fields", () => {
    const rows = page.split("\n").filter((line) => line.startsWith("| `"));
    for (const fault of kinds) {
      const { kind, ...fields } = fault.entries;
      const row = rows.find((line) => line.split("|")[1]?.includes(`\`${kind.literal}\``));
      assert.ok(row, kind.literal);
      const missing = Object.keys(fields).filter((field) => !row.includes(`\`${field}\``));
      assert.deepEqual(missing, [], kind.literal);
    }
  });

  it("names everything that the scanner can be set to and told", () => {
    const names = [...Object.keys({ ...scanCommand.entries, ...scannerSettings.entries }), ...symbologies];
    assert.deepEqual(
      names.filter((name) => !page.includes(`\`${name}\``)),
      [],
    );
  });

  it("names only options that the command line has", () => {
    const named = [...page.matchAll(/`(--[a-z-]+)`/g)].map(([, option]) => option ?? "");
    assert.ok(named.length > 3);
    assert.deepEqual(
      named.filter((option) => !simulator.help.includes(option)),
      [],
    );
  });
});
