import type { Locator, Page } from "playwright-core";

/** How many nodes are on the canvas, to be evaluated in the page. */
export const nodeCount = "RED.nodes.filterNodes({}).length";

const packageName = "@dimflow/node-red-dimensioner";

/** Import → Examples → this package → the example, with the mouse. */
export async function importExample(page: Page, name: string): Promise<void> {
  const examples = await openExamples(page);
  await examples.getByText(name, { exact: true }).click();
  const before = await page.evaluate<number>(nodeCount);
  await page.locator("#red-ui-clipboard-dialog-ok:enabled").click();
  // The examples share their config nodes: with one of them there already, the editor asks what to do.
  const isImported = `${nodeCount} > ${before}`;
  const copy = page.locator(".red-ui-notification button", { hasText: "Import copy" });
  await page.waitForFunction(
    `${isImported} || $(".red-ui-notification button:contains('Import copy')").length > 0`,
  );
  if ((await copy.count()) > 0) {
    await copy.click();
  }
  await page.waitForFunction(isImported);
}

/** The names of the examples that the dialog lists below this package; closes it again. */
export async function offeredExamples(page: Page): Promise<string[]> {
  const examples = await openExamples(page);
  const ofPackage = examples.getByText(packageName, { exact: true }).locator("xpath=ancestor::li[1]");
  const names = ofPackage.locator("li .red-ui-treeList-label-text");
  await names.first().waitFor();
  const offered = await names.allInnerTexts();
  await page.locator("#red-ui-clipboard-dialog-cancel").click();
  await page.locator("#red-ui-clipboard-dialog-cancel").waitFor({ state: "hidden" });
  return offered;
}

/** Import → Examples → this package, with the mouse. */
async function openExamples(page: Page): Promise<Locator> {
  await page.locator("#red-ui-header-button-sidemenu").click();
  await page.locator("#menu-item-import").click();
  await page.locator("#red-ui-clipboard-dialog-import-tabs").getByText("Examples").click();
  const examples = page.locator("#red-ui-clipboard-dialog-import-tab-examples");
  await examples.getByText(packageName, { exact: true }).click();
  return examples;
}

/** Imports an example without the menu and its dialog, which take ten times as long: where it is the flow that matters. */
export async function importAsTheDialogDoes(page: Page, name: string): Promise<void> {
  const path = `library/examples/flows/${packageName}/${encodeURIComponent(name)}`;
  await page.evaluate(
    `$.getJSON("${path}").then((nodes) => RED.view.importNodes(nodes, { generateIds: false, addFlow: false }))`,
  );
}
