import assert from "node:assert/strict";
import { editorsOfSuite } from "./open-editors.ts";
import type { Page } from "playwright-core";
import { closeDialog, faultsOfDialog, fill, openConfigDialog, opened, problemOf } from "./dialog.ts";
import { nodeRedMajor } from "../support/node-red.ts";

const config = "#node-config-input-";

describe(`the logins in the dialog of a store, in Node-RED ${nodeRedMajor}`, () => {
  const editors = editorsOfSuite([
    {
      id: "store",
      type: "dimensioner-store",
      name: "Evidence",
      folder: "/packages",
      folderType: "str",
      path: "evidence",
    },
  ]);

  it("get a long password as it was typed, and say of one that is too long that it is", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "store");
      const place = page.locator(".dimensioner-new-login");
      for (const length of [150, 200]) {
        const password = "long password ".repeat(20).slice(0, length);
        await place.getByLabel("User name").fill(`Anna ${length}`);
        await place.getByLabel("Password").fill(password);
        const [request] = await Promise.all([
          page.waitForRequest(/\/dimensioner-store\/login$/),
          page.locator(".dimensioner-add-login").click(),
        ]);
        assert.deepEqual(request.postDataJSON(), { password });
        await page.getByText(`Anna ${length} was added.`).waitFor();
      }
      await place.getByLabel("User name").fill("Ben");
      await place.getByLabel("Password").fill("p".repeat(201));
      await page.locator(".dimensioner-add-login").click();
      await page.getByText("Password: It is longer than 200 characters.").waitFor();
      assert.deepEqual(await faultsOfDialog(page), []);
    }));

  it("are said to be unreadable where they are, and can be added again", () =>
    editors.run(async ({ page }) => {
      const login = `{"name":"Anna","right":"read"}`;
      for (const saved of ["{", "{}", `[${login}]`]) {
        await page.evaluate(`RED.nodes.node("store").credentials = { logins: ${JSON.stringify(saved)} }`);
        await openConfigDialog(page, "store");
        await page.getByText("The saved logins cannot be read, so nobody can log in.").waitFor();
        await closeDialog(page, "cancel", "config");
      }
      await openConfigDialog(page, "store");
      await add(page, "Anna");
      await page.getByText("Anna was added.").waitFor();
      assert.deepEqual(await namesIn(page), ["Anna (view)"]);
      await closeDialog(page, "cancel", "config");
      await page.evaluate(`delete RED.nodes.node("store").credentials`);
    }));

  const add = async (page: Page, name: string): Promise<void> => {
    const place = page.locator(".dimensioner-new-login");
    await place.getByLabel("User name").fill(name);
    await place.getByLabel("Password").fill("a long password");
    await page.keyboard.press("Enter");
  };
  const namesIn = (page: Page): Promise<string[]> =>
    page.locator(".dimensioner-logins li > span").allInnerTexts();
  /** Holds the response to the next login until it is released. */
  const holdAnswer = async (page: Page): Promise<{ asked: Promise<void>; release: () => Promise<void> }> => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    await page.route(
      "**/dimensioner-store/login",
      async (route) => {
        asked.resolve();
        await answer.promise;
        await route.continue();
      },
      { times: 1 },
    );
    const release = async (): Promise<void> => {
      answer.resolve();
      // What waits for the response has run then.
      await page.waitForFunction("$.active === 0");
    };
    return { asked: asked.promise, release };
  };
  const faultsOfNode = (page: Page): Promise<string> =>
    page.evaluate<string>(`(RED.nodes.node("store").validationErrors ?? []).join()`);

  it("are not complete while one is typed that was not added", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "store");
      await add(page, "Anna");
      await page.getByText("Anna was added.").waitFor();
      assert.equal(await problemOf(page, "logins", config), "");
      const name = page.locator(".dimensioner-new-login").getByLabel("User name");
      await name.fill("Ben");
      await name.blur();
      assert.match(await problemOf(page, "logins", config), /^Press Add/);
      assert.deepEqual(await faultsOfDialog(page), []);
      await name.fill("");
      await name.blur();
      assert.equal(await problemOf(page, "logins", config), "");
      await name.fill("Ben");
      await closeDialog(page, "ok", "config");
      assert.match(await faultsOfNode(page), /Press Add/, "the editor tells what was not saved");
      await openConfigDialog(page, "store");
      assert.deepEqual(await namesIn(page), ["Anna (view)"]);
      await closeDialog(page, "ok", "config");
      assert.equal(await faultsOfNode(page), "");
    }));

  it("are kept if the response to a new one comes while another dialog lies over this one", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "store");
      await add(page, "Cleo");
      await page.getByText("Cleo was added.").waitFor();
      const before = await namesIn(page);
      await fill(page, "database", { choose: "postgres" }, config);
      const { asked, release } = await holdAnswer(page);
      await add(page, "Dora");
      await asked;
      await page.locator(`${config}btn-tls-add, ${config}lookup-tls-add`).first().click();
      await opened(page, "#node-config-dialog-edit-form", "#node-config-input-servername");
      await page.locator(`${config}logins`).waitFor({ state: "detached" });
      await release();
      // The dialog below has a button of the same name.
      await page.locator("#node-config-dialog-cancel").click();
      await page.locator(".dimensioner-logins").waitFor();
      assert.deepEqual(await namesIn(page), [...before, "Dora (view)"]);
      await page.locator(`${config}logins-problem`).waitFor({ state: "hidden" });
    }));

  it("keep the next one that is typed while the response to the one before is awaited", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "store");
      const { asked, release } = await holdAnswer(page);
      await add(page, "Finn");
      await asked;
      const name = page.locator(".dimensioner-new-login input").first();
      await name.fill("Gina");
      await release();
      assert.equal(await name.inputValue(), "Gina");
      assert.ok((await namesIn(page)).some((one) => one.startsWith("Finn")));
      assert.match(await problemOf(page, "logins", config), /^Press Add/);
    }));

  const labelOf = (page: Page): Promise<string> =>
    page.evaluate<string>(`RED.utils.getNodeLabel(RED.nodes.node("store"))`);
  const savedNames = (page: Page): Promise<string[]> =>
    page.evaluate<string[]>(
      `JSON.parse(RED.nodes.node("store").credentials.logins || "[]").map(({ name }) => name)`,
    );

  it("get the one that is typed when the dialog is confirmed", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "store");
      const place = page.locator(".dimensioner-new-login");
      await place.getByLabel("User name").fill("Hans");
      await place.getByLabel("Password").fill("a long password");
      await closeDialog(page, "ok", "config");
      await page.getByText("Hans was added, too. Deploy to store it.").waitFor();
      assert.ok((await savedNames(page)).includes("Hans"));
      assert.equal(await faultsOfNode(page), "");
      assert.equal(await page.evaluate(`RED.nodes.node("store").changed && RED.nodes.dirty()`), true);
      await openConfigDialog(page, "store");
      assert.ok((await namesIn(page)).includes("Hans (view)"));
      await closeDialog(page, "cancel", "config");
    }));

  it("belong to a store that is called by its place where it has no name", () =>
    editors.run(async ({ page }) => {
      assert.equal(await labelOf(page), "Evidence");
      await openConfigDialog(page, "store");
      await fill(page, "name", "", config);
      await closeDialog(page, "ok", "config");
      assert.equal(await labelOf(page), "/packages");
      await openConfigDialog(page, "store");
      await fill(page, "files", { choose: "s3" }, config);
      await fill(page, "bucket", "evidence", config);
      await fill(page, "prefix", "dock-4", config);
      await closeDialog(page, "ok", "config");
      assert.equal(await labelOf(page), "s3://evidence/dock-4");
      await openConfigDialog(page, "store");
      await fill(page, "files", { choose: "folder" }, config);
      await closeDialog(page, "ok", "config");
    }));

  it("get a new one whose response comes after the dialog was confirmed", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "store");
      await add(page, "Cleo");
      await page.getByText("Cleo was added.").waitFor();
      const { asked, release } = await holdAnswer(page);
      await add(page, "Emil");
      await asked;
      assert.match(await problemOf(page, "logins", config), /^Press Add/);
      await closeDialog(page, "ok", "config");
      await release();
      await page.getByText("Emil was added, too. Deploy to store it.").waitFor();
      assert.ok((await savedNames(page)).includes("Emil"));
      assert.equal(await faultsOfNode(page), "");
    }));
});
