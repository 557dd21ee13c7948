import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

const inBrowser = "it runs in a browser, and reads what this package's own server sends";
const ofDatabase =
  "it is in a row that this package has written within the limits, and whose SHA-256 is compared first";
const own = "it reads a file of this package";
/** Files that read JSON without the limits of src/model/parse-json.ts, and why they may. */
const withoutLimits: Readonly<Record<string, string>> = {
  "src/vault/packages/intent.ts": ofDatabase,
  "src/evidence/report/report-texts.ts": own,
  "src/editor/login-list.ts": "it runs in the editor, and reads what its own dialog has written",
  "src/evidence/page/evidence-page.ts": own,
  "src/evidence/page/client/api.ts": inBrowser,
  "src/evidence/page/client/last-searches.ts": "it runs in a browser, and reads what it has put there itself",
  "src/jobs/transactions.ts": ofDatabase,
  "src/simulator/control.ts":
    "the simulator shares no code with the package; its limits are tested in test/simulator/limits.test.ts",
  "src/simulator/page/control.ts": inBrowser,
  "src/simulator/page/simulated.ts": inBrowser,
  "src/station/begin.ts":
    "it runs in a Function node, and reads what another flow of the same user answers, of which only short texts are kept",
  "src/simulator/responses.ts": "it reads a response that the simulator has made",
  "src/database/inbox.ts": ofDatabase,
};

describe("JSON from outside", () => {
  it("is read by one reader with limits, wherever it comes in", () => {
    const reads =
      /^(?!\s*(?:\/?\*|\/\/)).*(?:\bJSON\.parse\b|\bparseJson\(\s*\)|\bv\.parseJson\b|\.json\(\)|\bwith:? \{ type: "json")/m;
    const files = globSync(["nodes/**/*.ts", "src/**/*.ts"], { cwd: root });
    const found = files
      .map((file) => file.replaceAll("\\", "/"))
      .filter((file) => file !== "src/model/parse-json.ts")
      .filter((file) => reads.test(readFileSync(join(root, file), "utf8")));
    assert.ok(files.length > 300, `only ${files.length} files`);
    assert.deepEqual(found.toSorted(), Object.keys(withoutLimits).toSorted());
  });
});
