import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import { atEnd } from "../support/at-end.ts";
import { newEditorContext, openEditorPage, type Editor } from "../support/browser.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { closeDialog } from "./dialog.ts";

/** One Node-RED with its editor open in a browser. */
export interface OpenEditor extends Pick<Editor, "page" | "problems"> {
  readonly major: typeof nodeRedMajor;
  readonly nodeRed: NodeRed;
}

export interface Editors {
  /** Runs the work in the editor that is open, and says of an error in which Node-RED it was. */
  run(work: (openEditor: OpenEditor) => Promise<void>): Promise<void>;
}

interface Running {
  readonly nodeRed: NodeRed;
  readonly context: BrowserContext;
  /** Used by one test file after the other, once the first one has opened it. */
  editor?: Editor;
}

/**
 * The smaller one of Node-RED's two editors of code, which no dialog of ours has: each page that is opened loads it. Those that
 * start a Node-RED of their own have the other one, as users do.
 */
const settings = { editorTheme: { codeEditor: { lib: "ace" } } };

/** Shared by the test files of a process: to start one takes longer than most of the tests. */
let running: Promise<Running> | undefined;

atEnd(async () => (await running?.catch(() => undefined))?.nodeRed.stop());

/**
 * Deploys flows in the Node-RED that is tested on this Node.js, in place of those of an earlier test file, and opens an editor
 * of it. CI tests the other one on the other Node.js.
 */
export async function openEditors(flows: readonly object[]): Promise<Editors> {
  const one = await (running ??= start());
  const { nodeRed, context } = one;
  await nodeRed.deploy(flows);
  await one.editor?.reopen();
  one.editor ??= await openEditorPage(context, nodeRed.url);
  const { page, problems } = one.editor;
  return {
    async run(work) {
      try {
        await work({ major: nodeRedMajor, nodeRed, page, problems });
      } catch (error) {
        throw new Error(`in Node-RED ${nodeRedMajor}: ${String(error)}`, { cause: error });
      }
    },
  };
}

/**
 * Opens the editors for all tests of the suite that calls it. `flows` may be a function, called when the suite's earlier
 * `before` hooks have run. After each test it closes open dialogs, which would make the following tests fail.
 */
export function editorsOfSuite(flows: readonly object[] | (() => readonly object[])): Editors {
  let editors: Editors | undefined;
  const run: Editors["run"] = async (work) => {
    assert.ok(editors !== undefined, "the editors are open");
    await editors.run(work);
  };
  before(async () => {
    editors = await openEditors(typeof flows === "function" ? flows() : flows);
  });
  afterEach(() =>
    run(async ({ page, problems }) => {
      assert.deepEqual(problems, []);
      await cancelDialogs(page);
    }),
  );
  return { run };
}

async function start(): Promise<Running> {
  // With Dashboard, so that an example that uses it is drawn as wide as it is.
  const [nodeRed, browser] = await Promise.all([
    startNodeRed({ major: nodeRedMajor, settings, dashboard: true }),
    sharedBrowser(),
  ]);
  return { nodeRed, context: await newEditorContext(browser) };
}

/** Cancels the dialog of a config node, and that of the node from which it was opened. */
async function cancelDialogs(page: Page): Promise<void> {
  for (const kind of ["config", "node"] as const) {
    const cancel = kind === "config" ? "#node-config-dialog-cancel" : "#node-dialog-cancel";
    if ((await page.locator(cancel).count()) > 0) {
      await closeDialog(page, "cancel", kind);
    }
  }
}
