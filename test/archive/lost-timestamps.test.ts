import assert from "node:assert/strict";
import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { verifyPackages } from "../../src/evidence/packages.ts";
import { type Finding, exportPackages, timestampArchive, verifyArchive } from "../../src/index.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { withFolder } from "../media/support.ts";
import { useAuthority } from "../vault/timestamp/authority.ts";
import { fixtures } from "../vault/timestamp/fixtures.ts";
import { fillArchive } from "./packages.ts";
import { readZip } from "./read-zip.ts";
import { databaseOf } from "./store.ts";

const roots = join(fixtures, "root.crt");
const stateFolder = ".dimensioner-archive";
const log = `${stateFolder}/timestamps.jsonl`;

describe("archive: time stamps that somebody deleted or changed", () => {
  const authority = useAuthority();

  const stamp = (root: string) =>
    timestampArchive(root, { database: databaseOf(root), server: authority.url, roots });
  const verify = async (root: string, timestampRoots?: string) => {
    const findings: Finding[] = [];
    const onFinding = (one: Finding) => findings.push(one);
    const report = await verifyArchive(root, { database: databaseOf(root), timestampRoots, onFinding });
    const said = [...findings, ...report.unchecked].map(({ kind, path }) => `${kind} ${path}`);
    return { verdict: report.verdict, said };
  };

  it("all deleted, with their log: with root certificates, the verdict is not ok", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      await stamp(root);
      await rm(join(root, `${stateFolder}/timestamps`), { recursive: true });
      await rm(join(root, log));
      const said = [`no-timestamps ${stateFolder}/timestamps`];
      assert.deepEqual(await verify(root, roots), { verdict: "unchecked", said });
      assert.deepEqual(await verify(root), { verdict: "ok", said: [] });
      // Nor with what an interrupted one has left in a bucket.
      await mkdir(join(root, `${stateFolder}/timestamps/none`), { recursive: true });
      assert.deepEqual(await verify(root, roots), { verdict: "unchecked", said });
      // Nor where the whole folder beside the packages is gone, or was not copied.
      await rm(join(root, stateFolder), { recursive: true });
      assert.ok((await verify(root, roots)).said.includes(said[0] ?? ""));
    }));

  it("all deleted: the verification of one package says that no time stamp covers it", () =>
    withFolder(async (root) => {
      const [path = ""] = await fillArchive(root, ["m0"]);
      const sha256 = sha256Of(await readFile(join(root, path, "manifest.json")));
      const notesWith = async (timestampRoots: string | undefined) => {
        const options = { onFinding: () => assert.fail(), onProgress: () => undefined, timestampRoots };
        const { signal } = new AbortController();
        const { notes } = await verifyPackages({ root, disk: plainDisk }, [{ path, sha256 }], {
          ...options,
          signal,
        });
        return notes;
      };
      const text = "no valid time stamp covers this package";
      assert.deepEqual(await notesWith(roots), [{ kind: "timestamp", path, text, timestamp: null }]);
      assert.deepEqual(await notesWith(undefined), []);
    }));

  it("a time stamp deleted, with its line in the log changed: the line is a finding", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const first = await stamp(root);
      await fillArchive(root, ["m1"]);
      await stamp(root);
      await rm(join(root, first.location), { recursive: true });
      const lines = await readFile(join(root, log), "utf8");
      const name = first.location.split("/").at(-1) ?? "";
      await writeFile(join(root, log), lines.replace(name, name.replace(/^2/, "3")));
      assert.deepEqual(await verify(root, roots), { verdict: "wrong", said: [`timestamp ${log}`] });
    }));

  it("a line that a kill has interrupted is no finding, also when others follow it", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      await stamp(root);
      const lines = await readFile(join(root, log), "utf8");
      await appendFile(join(root, log), lines.slice(0, 40));
      assert.deepEqual(await verify(root, roots), { verdict: "ok", said: [] });
      await fillArchive(root, ["m1"]);
      await stamp(root);
      assert.deepEqual(await verify(root, roots), { verdict: "ok", said: [] });
    }));

  it("a signed manifest changed in an export, with its hash in the list of hashes, is a finding", () =>
    withFolder((to) =>
      withFolder(async (root) => {
        const [path = ""] = await fillArchive(root, ["m0"]);
        await stamp(root);
        const options = { database: databaseOf(root), by: "all", to } as const;
        const exported = await exportPackages(root, options);
        const folder = join(to, "extracted");
        for (const { name, content } of await readZip(exported.path)) {
          await mkdir(dirname(join(folder, name)), { recursive: true });
          await writeFile(join(folder, name), content);
        }
        const check = async () => {
          const findings: Finding[] = [];
          const onFinding = (one: Finding) => findings.push(one);
          const { verdict } = await verifyArchive(folder, { timestampRoots: roots, onFinding });
          return { verdict, said: findings.map(({ kind, problem }) => `${kind}: ${problem}`) };
        };
        assert.deepEqual(await check(), { verdict: "ok", said: [] });
        const file = join(folder, "packages", path, "manifest.json");
        const before = await readFile(file, "utf8");
        const changed = before.replace("ORDER-1", "ORDER-2");
        await writeFile(file, changed);
        const sums = join(folder, "SHA256SUMS");
        const hashes = await readFile(sums, "utf8");
        await writeFile(sums, hashes.replace(sha256Of(before), sha256Of(changed)));
        const problem = `the manifest that was time-stamped, that of ${path}, has been changed`;
        assert.deepEqual(await check(), { verdict: "wrong", said: [`timestamp: ${problem}`] });
      }),
    ));
});
