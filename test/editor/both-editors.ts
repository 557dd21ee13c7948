import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import { newEditorContext, openEditorPage, type Editor } from "../support/browser.ts";
import { startNodeRed, type NodeRed } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { closeDialog } from "./dialog.ts";

/** One Node-RED with its editor open in a browser. */
export interface OpenEditor extends Pick<Editor, "page" | "problems"> {
  readonly major: 4 | 5;
  readonly nodeRed: NodeRed;
}

export interface BothEditors {
  /** Runs the same work in both editors at once: much of it is waiting. */
  run(work: (openEditor: OpenEditor) => Promise<void>): Promise<void>;
}

interface Running {
  readonly major: 4 | 5;
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

/** Shared by the test files of a process: to start them takes longer than most of the tests. */
let running: Promise<readonly Running[]> | undefined;

// Outside of any suite, which means after all of them.
after(async () => {
  await Promise.all(((await running) ?? []).map(({ nodeRed }) => nodeRed.stop()));
});

/** Deploys flows in Node-RED 4.1 and 5.0, in place of those of an earlier test file, and opens an editor of each. */
export async function openBothEditors(flows: readonly object[]): Promise<BothEditors> {
  running ??= start();
  const openEditors = await Promise.all(
    (await running).map(async (one): Promise<OpenEditor> => {
      const { major, nodeRed, context } = one;
      await nodeRed.deploy(flows);
      await one.editor?.reopen();
      one.editor ??= await openEditorPage(context, nodeRed.url);
      const { page, problems } = one.editor;
      return { major, nodeRed, page, problems };
    }),
  );
  return {
    async run(work) {
      const ended = await Promise.allSettled(openEditors.map(work));
      ended.forEach((one, index) => {
        if (one.status === "rejected") {
          throw new Error(
            `in Node-RED ${openEditors[index]?.major}: ${String(one.reason?.stack ?? one.reason)}`,
          );
        }
      });
    },
  };
}

/**
 * Opens both editors for all tests of the suite that calls it. `flows` may be a function, called when the suite's earlier
 * `before` hooks have run. After each test it closes open dialogs, which would make the following tests fail.
 */
export function bothEditorsOfSuite(flows: readonly object[] | (() => readonly object[])): BothEditors {
  let both: BothEditors | undefined;
  const run: BothEditors["run"] = async (work) => {
    assert.ok(both !== undefined, "the editors are open");
    await both.run(work);
  };
  before(async () => {
    both = await openBothEditors(typeof flows === "function" ? flows() : flows);
  });
  afterEach(() =>
    run(async ({ page, problems }) => {
      assert.deepEqual(problems, []);
      await cancelDialogs(page);
    }),
  );
  return { run };
}

function start(): Promise<Running[]> {
  return Promise.all(
    ([4, 5] as const).map(async (major) => {
      // With Dashboard, so that an example that uses it is drawn as wide as it is.
      const [nodeRed, browser] = await Promise.all([
        startNodeRed({ major, settings, dashboard: true }),
        sharedBrowser(),
      ]);
      return { major, nodeRed, context: await newEditorContext(browser) };
    }),
  );
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
