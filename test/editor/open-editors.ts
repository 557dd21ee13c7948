import assert from "node:assert/strict";
import type { BrowserContext, Page } from "playwright-core";
import { newEditorContext, openEditorPage, type Editor } from "../support/browser.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { closeDialog } from "./dialog.ts";

/** One Node-RED with its editor open in a browser. */
export interface OpenEditor extends Pick<Editor, "page" | "problems"> {
  readonly major: Major;
  readonly nodeRed: NodeRed;
}

export interface Editors {
  /** Runs the same work in each of them at once: much of it is waiting. */
  run(work: (openEditor: OpenEditor) => Promise<void>): Promise<void>;
}

type Major = 4 | 5;

/** Both Node-REDs, for work that has to be tried in each editor with every change. */
export const bothMajors: readonly Major[] = [4, 5];

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
const running = new Map<Major, Promise<Running>>();

// Outside of any suite, which means after all of them.
after(async () => {
  const started = await Promise.all(running.values());
  await Promise.all(started.map(({ nodeRed }) => nodeRed.stop()));
});

/**
 * Deploys flows in the Node-RED that is tested on this Node.js, or in others, in place of those of an earlier test file, and
 * opens an editor of each.
 */
export async function openEditors(
  flows: readonly object[],
  majors: readonly Major[] = [nodeRedMajor],
): Promise<Editors> {
  const opened = await Promise.all(
    majors.map(async (major): Promise<OpenEditor> => {
      const starting = running.get(major) ?? start(major);
      running.set(major, starting);
      const one = await starting;
      const { nodeRed, context } = one;
      await nodeRed.deploy(flows);
      await one.editor?.reopen();
      one.editor ??= await openEditorPage(context, nodeRed.url);
      const { page, problems } = one.editor;
      return { major, nodeRed, page, problems };
    }),
  );
  return {
    async run(work) {
      const ended = await Promise.allSettled(opened.map(work));
      ended.forEach((one, index) => {
        if (one.status === "rejected") {
          throw new Error(`in Node-RED ${opened[index]?.major}: ${String(one.reason?.stack ?? one.reason)}`);
        }
      });
    },
  };
}

/**
 * Opens the editors for all tests of the suite that calls it. `flows` may be a function, called when the suite's earlier
 * `before` hooks have run. After each test it closes open dialogs, which would make the following tests fail.
 */
export function editorsOfSuite(
  flows: readonly object[] | (() => readonly object[]),
  majors?: readonly Major[],
): Editors {
  let editors: Editors | undefined;
  const run: Editors["run"] = async (work) => {
    assert.ok(editors !== undefined, "the editors are open");
    await editors.run(work);
  };
  before(async () => {
    editors = await openEditors(typeof flows === "function" ? flows() : flows, majors);
  });
  afterEach(() =>
    run(async ({ page, problems }) => {
      assert.deepEqual(problems, []);
      await cancelDialogs(page);
    }),
  );
  return { run };
}

async function start(major: Major): Promise<Running> {
  // With Dashboard, so that an example that uses it is drawn as wide as it is.
  const [nodeRed, browser] = await Promise.all([
    startNodeRed({ major, settings, dashboard: true }),
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
