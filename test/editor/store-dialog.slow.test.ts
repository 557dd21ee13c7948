import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { editorsOfSuite } from "./open-editors.ts";
import {
  closeDialog,
  dragFromPalette,
  faultsOfDialog,
  fill,
  openConfigDialog,
  openDialog,
  problemOf,
  savedProperties,
} from "./dialog.ts";
import { startStub } from "../support/s3-stub.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { untilDeployed } from "./wires.ts";
import { readStoreFile } from "../../src/vault/store-file.ts";
import { nodeRedMajor } from "../support/node-red.ts";

const config = "#node-config-input-";

/** Presses Test connection, and waits for its lines: each with its state. */
async function tested(page: Page): Promise<readonly string[]> {
  await page.locator(".dimensioner-test").click();
  await page
    .locator('.dimensioner-answer:not([data-state="busy"]) .dimensioner-answer-line')
    .first()
    .waitFor();
  return page
    .locator(".dimensioner-answer-line")
    .evaluateAll((lines) => lines.map((one) => `${one.getAttribute("data-state")}: ${one.textContent}`));
}

/** Presses the button for the file, and returns what the browser downloads. */
async function savedFile(page: Page): Promise<{ readonly name: string; readonly content: string }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator(".dimensioner-store-file").click(),
  ]);
  return { name: download.suggestedFilename(), content: await readFile(await download.path(), "utf8") };
}

describe(`the dialog of a store, in Node-RED ${nodeRedMajor}`, () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "packages-"));
    await writeFile(join(folder, "not-a-folder"), "");
  });
  after(() => rm(folder, { recursive: true }));
  const editors = editorsOfSuite(() => [
    { id: "tab", type: "tab", label: "Dock" },
    { id: "store", type: "dimensioner-store", name: "Evidence", folder, folderType: "str" },
    { id: "tab-2", type: "tab", label: "Another dock" },
    // It belongs to another tab, so that nodes of this one cannot choose it.
    { id: "blank", z: "tab-2", type: "dimensioner-store", name: "No folder yet" },
  ]);

  it("tells in one list what works for the folder and for the database", () =>
    editors.run(async ({ page, nodeRed }) => {
      await openConfigDialog(page, "store");
      const lines = await tested(page);
      assert.equal(lines[0], `good: The folder ${folder} exists.`);
      assert.deepEqual(lines.slice(1, 6), [
        "good: Files can be written and deleted.",
        "good: Finished packages cannot overwrite one another.",
        "good: Files and folders are synced to the disk.",
        "good: Lines are added to the log.",
        "good: Unfinished packages are on the same disk.",
      ]);
      assert.match(lines[6] ?? "", /free space: \d[\d,.]* \wB of \d[\d,.]* \wB/i);
      const file = join(nodeRed.userDir, "dimensioner", "store.sqlite");
      assert.match(
        lines[7] ?? "",
        /^good: The database works \(SQLite 3\.\d+\.\d+, schema version \d+, [\d.]+ kB\): /,
      );
      assert.ok(lines[7]?.endsWith(file));
      assert.ok(lines.includes("good: No open archive jobs."));
      assert.ok(lines.includes("good: No unhandled webhook records."));
      const { name, content } = await savedFile(page);
      assert.equal(name, "store.json");
      assert.deepEqual(JSON.parse(content), { files: { kind: "folder", path: folder }, database: file });
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "cancel", "config");
    }));

  it("says below the field that a folder is needed, and tests the database nevertheless", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "blank");
      assert.equal(
        await problemOf(page, "folder", config),
        "Enter the folder that packages are saved in. It must exist.",
      );
      const [first, second] = await tested(page);
      assert.match(first ?? "", /^bad: The folder to save files in is not set/);
      assert.match(second ?? "", /^good: The database works/);
      await page.locator(".dimensioner-store-file").click();
      const refusal = page.getByText(/^The folder to save files in is not set/);
      await refusal.nth(1).waitFor();
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "cancel", "config");
    }));

  it("says what to do about a folder that will not do, and forgets it with the next change", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "store");
      await fill(page, "folder", join(folder, "not-a-folder"), config);
      assert.match((await tested(page))[0] ?? "", /^bad: .*not-a-folder is not a folder\. Choose a folder/);
      await fill(page, "folder", { type: "env", value: "NOT_SET" }, config);
      assert.equal(await page.locator(".dimensioner-answer").textContent(), "");
      assert.match((await tested(page))[0] ?? "", /^bad: .*the environment variable NOT_SET is not set/);
      await fill(page, "folder", { type: "str", value: join(folder, "not-mounted") }, config);
      assert.match((await tested(page))[0] ?? "", /^bad: .*not-mounted does not exist\. Create it or mount/);
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "cancel", "config");
      assert.deepEqual(await readdir(folder), ["not-a-folder"]);
    }));

  it("asks where a PostgreSQL database is, keeps the user and the password from the flow, and tests it", () =>
    editors.run(async ({ page, nodeRed }) => {
      const server = await sharedPostgres();
      await openConfigDialog(page, "store");
      const rows = ["host", "port", "databaseName", "user", "password", "tls"].map((property) =>
        page.locator(`.form-row:has(${config}${property})`),
      );
      assert.deepEqual(
        await Promise.all(rows.map((row) => row.isVisible())),
        rows.map(() => false),
      );
      await fill(page, "database", { choose: "postgres" }, config);
      await Promise.all(rows.map((row) => row.waitFor({ state: "visible" })));
      assert.match(await problemOf(page, "host", config), /^Enter the host/);
      assert.match(await problemOf(page, "databaseName", config), /^Enter the name of the database/);
      const { user, password } = server.admin;
      const databaseName = await server.makeDatabase();
      await fill(page, "host", `127.0.0.1:${server.port}`, config);
      assert.match(await problemOf(page, "host", config), /without a port/);
      await fill(page, "port", "65536", config);
      assert.match(await problemOf(page, "port", config), /from 1 to 65/);
      for (const [property, value] of Object.entries({
        host: "127.0.0.1",
        port: String(server.port),
        databaseName,
        user,
        password,
      })) {
        await fill(page, property, value, config);
        assert.equal(await problemOf(page, property, config), "");
      }
      const lines = await tested(page);
      assert.match(
        lines.find((one) => one.includes("PostgreSQL")) ?? lines.join("\n"),
        /^good: The database can be used \(PostgreSQL [\d.]+\)\. The tables of the store are created with the first deploy: postgres:/,
      );
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "ok", "config");

      const started = nodeRed.nextLine(/Started (?:modified )?(?:flows|nodes)/);
      await page.locator("#red-ui-header-button-deploy").click();
      // The other store has no folder, so the editor asks.
      await page.getByRole("button", { name: "Confirm deploy" }).click();
      await started;
      await untilDeployed(page);
      const deployed = await (await nodeRed.adminFetch("/flows")).text();
      assert.ok(deployed.includes(`"${databaseName}"`), deployed);
      assert.equal(deployed.includes(password), false);
      await openConfigDialog(page, "store");
      assert.equal(await page.locator(`${config}password`).inputValue(), "__PWRD__");
      assert.ok((await tested(page)).some((one) => /^good: The database .* \(PostgreSQL/.test(one)));
      await closeDialog(page, "cancel", "config");
    }));

  it("asks for a bucket instead of the folder, keeps the secret from the flow, and tests it", () =>
    editors.run(async ({ page, nodeRed }) => {
      const stub = await startStub({ hasLock: true });
      try {
        await openConfigDialog(page, "store");
        const rowOf = (property: string) => page.locator(`.form-row:has(> * > ${config}${property})`);
        assert.equal(await rowOf("bucket").isVisible(), false);
        await fill(page, "files", { choose: "s3" }, config);
        await rowOf("bucket").waitFor({ state: "visible" });
        await rowOf("folder").waitFor({ state: "hidden" });
        assert.match(await problemOf(page, "bucket", config), /^Enter the bucket that packages are saved in/);
        await fill(page, "bucket", "no/bucket", config);
        assert.match(await problemOf(page, "bucket", config), /must be the name of a bucket/);
        await fill(page, "bucket", "evidence", config);
        await fill(page, "prefix", "../elsewhere", config);
        assert.match(await problemOf(page, "prefix", config), /no part may be/);
        await fill(page, "prefix", "dock 4", config);
        await fill(page, "endpoint", `${stub.origin}?x=1`, config);
        assert.match(await problemOf(page, "endpoint", config), /^No user name, query or fragment/);
        await fill(page, "endpoint", stub.origin, config);
        await fill(page, "accessKeyId", "AKPACKER", config);
        assert.match((await tested(page))[0] ?? "", /^bad: .*Secret access key.* belong together/);
        await fill(page, "secretAccessKey", "not to be seen", config);
        const lines = await tested(page);
        assert.deepEqual(
          lines.filter((one) => /bject|store can/.test(one)),
          [
            `good: Objects can be listed, stored, read and deleted in s3://evidence/dock 4 at ${stub.origin}.`,
            "good: The object store can keep one object from overwriting another (conditional writes).",
            "good: Object Lock is available: with a retention, only who has the right s3:BypassGovernanceRetention can delete new packages.",
          ],
        );
        assert.equal(stub.objects.size, 0);
        assert.deepEqual(await faultsOfDialog(page), []);
        await closeDialog(page, "ok", "config");

        const started = nodeRed.nextLine(/Started (?:modified )?(?:flows|nodes)/);
        await page.locator("#red-ui-header-button-deploy").click();
        await page.getByRole("button", { name: "Confirm deploy" }).click();
        await started;
        await untilDeployed(page);
        const deployed = await (await nodeRed.adminFetch("/flows")).text();
        assert.ok(deployed.includes(stub.origin), deployed);
        assert.equal(/AKPACKER|not to be seen/.test(deployed), false);
        await openConfigDialog(page, "store");
        assert.equal(await page.locator(`${config}accessKeyId`).inputValue(), "AKPACKER");
        assert.equal(await page.locator(`${config}secretAccessKey`).inputValue(), "__PWRD__");
        assert.match((await tested(page))[0] ?? "", /^good: Objects can be listed/);
        const { content } = await savedFile(page);
        const { files, database } = JSON.parse(content) as { files: object; database: string };
        assert.deepEqual(files, {
          kind: "s3",
          bucket: "evidence",
          prefix: "dock 4",
          endpoint: stub.origin,
          region: "us-east-1",
          pathStyle: true,
        });
        assert.match(database, /^postgres:\/\/\w+@127\.0\.0\.1:\d+\/\w+$/);
        const store = join(folder, "store.json");
        await writeFile(store, content);
        assert.equal((await readStoreFile(store)).database, database);
        await rm(store);
        await closeDialog(page, "cancel", "config");
      } finally {
        await stub.close();
      }
    }));

  it("is opened from the nodes that use it: a new archive and a new transaction in choose the only one", () =>
    editors.run(async ({ page }) => {
      for (const [index, type] of ["dimensioner-archive", "dimensioner-transaction-in"].entries()) {
        const id = await dragFromPalette(page, type, 300, 100 + 100 * index);
        assert.equal((await savedProperties(page, id))["store"], "store");
        await openDialog(page, id);
        assert.equal(await problemOf(page, "store"), "");
        await fill(page, "store", { choose: "_ADD_" });
        const isNeeded = type === "dimensioner-archive";
        assert.equal(
          await problemOf(page, "store"),
          isNeeded ? "Select a store, or add one: it says where packages are saved." : "",
        );
        await closeDialog(page, "cancel");
      }
    }));
});
