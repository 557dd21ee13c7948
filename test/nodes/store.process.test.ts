import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../src/database/schema.ts";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { png } from "../media/samples.ts";
import { type NodeRed, nodeRedMajor, startNodeRed } from "../support/node-red.ts";
import { pem } from "../support/tls.ts";
import { type Line, postTest, testStore } from "./store-dialog.ts";

const webhook = "dimensioner/transaction";
describe("dimensioner-store in a real Node-RED", () => {
  let nodeRed: NodeRed;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "packages-"));
    nodeRed = await startNodeRed({
      major: nodeRedMajor,
      env: { EVIDENCE: folder },
      flows: [
        { id: "tab", type: "tab", label: "test" },
        // Without a folder nothing can be archived, and the webhook works nevertheless.
        { id: "store", type: "dimensioner-store", name: "Evidence" },
        {
          id: "in",
          z: "tab",
          type: "dimensioner-transaction-in",
          path: webhook,
          secretIn: "none",
          store: "store",
          wires: [[]],
        },
        { id: "of-packages", type: "dimensioner-store", folder, folderType: "str" },
        // Nobody answers there, so that a job stays open.
        {
          id: "cloud",
          type: "dimensioner-cloud",
          baseUrl: "http://127.0.0.1:9",
          credentials: { token: "t" },
        },
        {
          id: "scan",
          z: "tab",
          x: 100,
          y: 100,
          type: "inject",
          props: [{ p: "transactionId", v: "T1", vt: "str" }],
          wires: [["archive"]],
        },
        {
          id: "archive",
          z: "tab",
          x: 300,
          y: 100,
          type: "dimensioner-archive",
          cloud: "cloud",
          store: "of-packages",
          wires: [[]],
        },
      ],
    });
  });
  after(async () => {
    await nodeRed?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const files = async (): Promise<string[]> =>
    (await readdir(join(nodeRed.userDir, "dimensioner"))).toSorted();
  /** What lies in the folder beside the archive's own. */
  const leftovers = async (): Promise<string[]> =>
    (await readdir(folder)).filter((name) => name !== ".dimensioner-archive");
  const fileOf = (id: string): string => join(nodeRed.userDir, "dimensioner", `${id}.sqlite`);
  const test = (id: string, values: object = {}): Promise<readonly Line[]> =>
    testStore(nodeRed, { id, folder, ...values });
  const said = (lines: readonly Line[]): string[] => lines.map(({ state, key }) => `${state} ${key}`);
  const lineOf = (lines: readonly Line[], key: string): Line | undefined =>
    lines.find((one) => one.key === key);

  it("says in Test connection that the database works, and how many records nobody has handled", async () => {
    const posted = await nodeRed.adminFetch(`/${webhook}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: 905865, errorCode: 0 }),
    });
    assert.equal(posted.status, 204);
    const lines = await test("store");
    assert.ok(
      lines.every(({ state, key }) => state === "good" || key === "spaceLow"),
      said(lines).join(),
    );
    const { values } = lineOf(lines, "database") ?? assert.fail();
    assert.match(String(values["version"]), /^3\.\d+\.\d+$/);
    assert.equal(values["schema"], migrations.length);
    assert.equal(values["path"], fileOf("store"));
    assert.equal(lineOf(lines, "jobsNone")?.state, "good");
    assert.equal(lineOf(lines, "records")?.values["count"], 1);
    assert.equal(lineOf(lines, "folder")?.values["path"], folder);
    assert.deepEqual(await leftovers(), []);
  });

  it("says how many archive jobs are open, and since when", async () => {
    const delayed = nodeRed.nextLine(/Archive jobs are delayed/);
    await nodeRed.adminFetch("/inject/scan", { method: "POST" });
    await delayed;
    const jobs = lineOf(await test("of-packages"), "jobs");
    assert.deepEqual([jobs?.state, jobs?.values["count"]], ["good", 1]);
    const { time } = jobs?.values["time"] as { time: string };
    assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000, time);
  });

  it("takes the folder as it stands in the dialog, also from an environment variable", async () => {
    const folderOf = async (values: object): Promise<string | undefined> =>
      said(await test("store", values))[0];
    assert.equal(await folderOf({ folder: "${EVIDENCE}" }), "good folder");
    assert.equal(await folderOf({ folder: "EVIDENCE", folderType: "env" }), "good folder");
    assert.equal(await folderOf({ folder: "${EVIDENCE}/below", folderType: "env" }), "bad fileNoFolder");
    assert.equal(await folderOf({ folder: "" }), "bad configFolder");
    assert.equal(await folderOf({ folder: "dimensioner/packages" }), "good folder");
    assert.deepEqual(await readdir(join(nodeRed.userDir, "dimensioner", "packages")), [], "it was made");
    assert.equal(await folderOf({ folder: "${NOT_SET}" }), "bad configInvalid");
    assert.equal(await folderOf({ folder: "NOT_SET", folderType: "env" }), "bad configInvalid");
    assert.equal(await folderOf({ folder: "payload", folderType: "msg" }), "bad configChoice");
  });

  it("says how many root certificates a file has, or what is wrong with it", async () => {
    const file = join(nodeRed.userDir, "roots.pem");
    await writeFile(file, pem("authority.crt"));
    const line = (await test("store", { roots: file })).at(-1);
    assert.deepEqual([line?.state, line?.key, line?.values["count"]], ["good", "roots", 1]);
    await writeFile(file, "no certificate\n");
    assert.equal(said(await test("store", { roots: file })).at(-1), "bad timestampRoots");
    assert.equal(said(await test("store", { roots: "${NOT_SET}" })).at(-1), "bad configInvalid");
  });

  it("says whether the logo of reports can be used", async () => {
    const logo = join(nodeRed.userDir, "logo");
    await writeFile(logo, png);
    const line = (await test("store", { logo })).at(-1);
    assert.deepEqual([line?.state, line?.key, line?.values["path"]], ["good", "logo", logo]);
    await writeFile(logo, "<svg/>");
    assert.equal(said(await test("store", { logo })).at(-1), "bad reportLogo");
    assert.equal(said(await test("store", { logo: "${NOT_SET}" })).at(-1), "bad configInvalid");
  });

  it("tests the database where the folder is of no use", async () => {
    const lines = await test("store", { folder: join(folder, "not-mounted") });
    assert.deepEqual(said(lines).slice(0, 2), ["bad fileNoFolder", "good database"]);
  });

  it("leaves nothing behind of a store that is not deployed", async () => {
    const before = await files();
    for (const id of ["not-deployed", "../../outside"]) {
      const lines = await test(id);
      assert.equal(lineOf(lines, "database")?.state, "good");
      assert.equal(lineOf(lines, "recordsNone")?.state, "good");
    }
    assert.deepEqual(await files(), before);
    assert.deepEqual(await leftovers(), []);
  });

  it("works when it is pressed many times at once", async () => {
    const pressed = await Promise.all(Array.from({ length: 10 }, (_none, index) => test(`new-${index % 2}`)));
    for (const lines of pressed) {
      assert.equal(lineOf(lines, "folderNames")?.state, "good");
      assert.equal(lineOf(lines, "database")?.state, "good");
    }
    assert.deepEqual(await leftovers(), []);
  });

  it("says what is wrong with a database, and leaves it as it is", async () => {
    const other = await SqliteDatabase.open({ file: fileOf("in-use"), migrations });
    try {
      assert.equal(said(await test("in-use")).at(-1), "bad storeInUse");
    } finally {
      await other.close();
    }
    await writeFile(fileOf("damaged"), "no database\n".repeat(1_000));
    const line = (await test("damaged")).at(-1);
    assert.equal(line?.key, "storeDamaged");
    assert.equal(line.values["path"], fileOf("damaged"));
    assert.ok((await files()).includes("damaged.sqlite"));
  });

  it("takes nothing but the fields of a dialog", async () => {
    for (const body of [{}, { id: "store", z: "" }, { id: "", z: "", folder: {}, folderType: "str" }]) {
      assert.equal((await postTest(nodeRed, body)).status, 400);
    }
  });
});
