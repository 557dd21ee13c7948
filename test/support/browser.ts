import { severalTries } from "./several-tries.ts";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright-core";

const unpackedDir = join(dirname(dirname(import.meta.dirname)), "node_modules", ".cache", "chromium");
const fontSettings = "fonts.conf";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--font-render-hinting=none",
];

/** How long a page may take to show what a test waits for: far more than a slow computer needs. */
export const longestWaitMs = 90_000;

/**
 * Starts a headless Chromium: the one that the environment's CHROMIUM names, else an installed one, else the one that comes with `npm ci`. On
 * a busy computer Chromium crashes now and then while it starts.
 */
export function launchBrowser(): Promise<Browser> {
  return severalTries("Chromium", async () => {
    const installed = installedChromium();
    const found = installed === null ? await unpackedChromium() : { executablePath: installed };
    return chromium.launch({ ...found, args: flags, headless: true });
  });
}

export interface EditorOptions {
  /** The editor's language; en-US without it. */
  language?: string;
  /** Dark theme, as far as this Node-RED has one. */
  dark?: boolean;
  context?: BrowserContextOptions;
}

export interface Editor {
  readonly page: Page;
  /** Page errors, console errors and failed requests, in the order in which they came. */
  readonly problems: readonly string[];
  /** Opens it anew in the same page, which takes two thirds of the time: the browser has its scripts compiled. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

/** Opens Node-RED's editor in a browser context of its own and waits until the flows are on the canvas. */
export async function openEditor(
  browser: Browser,
  url: string,
  options: EditorOptions = {},
): Promise<Editor> {
  const context = await newEditorContext(browser, options);
  const editor = await openEditorPage(context, url, options);
  return { ...editor, close: () => context.close() };
}

/** Makes a browser context for editors with these options. */
export function newEditorContext(
  browser: Browser,
  { language = "en-US", dark = false, context = {} }: EditorOptions = {},
): Promise<BrowserContext> {
  return browser.newContext({
    locale: language,
    colorScheme: dark ? "dark" : "light",
    viewport: { width: 1280, height: 900 },
    ...context,
  });
}

/** The same in a context in which the editor may have been open before: it begins with these settings and nothing else. */
export async function openEditorPage(
  context: BrowserContext,
  url: string,
  options: EditorOptions = {},
): Promise<Editor> {
  const localStorage = Object.entries(editorStorage(options)).map(([name, value]) => ({ name, value }));
  await context.setStorageState({ cookies: [], origins: [{ origin: new URL(url).origin, localStorage }] });
  context.setDefaultTimeout(longestWaitMs);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`page error: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    // The editor only logs it when a dialog cannot be prepared or saved.
    const isQuiet = /^onedit\w+ /.test(message.text());
    if (message.type() === "error" || message.type() === "warning" || isQuiet) {
      problems.push(`console ${message.type()}: ${message.text()}`);
    }
  });
  page.on("response", (response) => {
    if (response.status() >= 400) {
      problems.push(`HTTP ${response.status()}: ${response.url()}`);
    }
  });
  await page.goto(url, { waitUntil: "load" });
  await untilUsable(page);
  return {
    page,
    problems,
    reopen: async () => {
      await page.evaluate(`(() => {
        sessionStorage.clear();
        localStorage.clear();
        Object.assign(localStorage, ${JSON.stringify(editorStorage(options))});
      })()`);
      await page.mouse.move(0, 0);
      await page.goto(url, { waitUntil: "commit" });
      problems.length = 0;
      await page.waitForLoadState("load");
      await untilUsable(page);
    },
    close: () => page.close(),
  };
}

/** What the editor keeps in the browser of its language and its theme. */
function editorStorage({ language = "en-US", dark = false }: EditorOptions): Record<string, string> {
  return { "editor-language": language, "view-dark-theme": dark ? "dark" : "light" };
}

/** Waits until the flows are on the canvas and nothing moves any more. */
export async function untilUsable(page: Page): Promise<void> {
  await page.locator("#red-ui-header-button-deploy").waitFor({ state: "visible" });
  await page.locator("#red-ui-loading-progress").waitFor({ state: "hidden" });
  await standStill(page);
}

/** Ends the editor's animations: a click on what still moves can miss it, and a color that still changes is neither of the two. */
async function standStill(page: Page): Promise<void> {
  await page.addStyleTag({
    content: "*, ::before, ::after { transition: none !important; animation: none !important; }",
  });
  await page.evaluate("$.fx.off = true");
}

function installedChromium(): string | null {
  const named = process.env["CHROMIUM"];
  const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
  const onPath = (process.env["PATH"] ?? "")
    .split(delimiter)
    .flatMap((dir) => names.map((name) => join(dir, name)));
  return [...(named ? [named] : []), ...onPath].find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The packaged browser with the environment that it needs. */
async function unpackedChromium(): Promise<{ executablePath: string; env: NodeJS.ProcessEnv }> {
  if (!existsSync(unpackedDir)) {
    await unpackChromium();
  }
  const libraries = join(unpackedDir, "al2023", "lib");
  return {
    executablePath: join(unpackedDir, "chromium"),
    env: { ...process.env, LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: join(unpackedDir, fontSettings) },
  };
}

/** Test processes that begin at once each unpack it into a folder of their own, and the first one gives its folder the name. */
async function unpackChromium(): Promise<void> {
  await mkdir(dirname(unpackedDir), { recursive: true });
  const folder = await mkdtemp(`${unpackedDir}-`);
  const before = { ...process.env };
  // It unpacks into the folder for temporary files, and brings its libraries only where it believes to be on Lambda.
  Object.assign(process.env, { TMPDIR: folder, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs22.x" });
  try {
    const { default: packaged } = await import("@sparticuz/chromium");
    await packaged.executablePath();
  } finally {
    for (const name of Object.keys(process.env)) {
      if (!(name in before)) {
        delete process.env[name];
      }
    }
    Object.assign(process.env, before);
  }
  // Without a font the browser crashes, and the packaged settings look for theirs in a fixed place.
  const dirs = [join(unpackedDir, "fonts"), "/usr/share/fonts"].map((dir) => `<dir>${dir}</dir>`).join("");
  const cache = `<cachedir>${join(unpackedDir, "fonts-cache")}</cachedir>`;
  await writeFile(
    join(folder, fontSettings),
    `<?xml version="1.0"?><fontconfig>${dirs}${cache}</fontconfig>\n`,
  );
  try {
    await rename(folder, unpackedDir);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (!existsSync(unpackedDir)) {
      throw error;
    }
  }
}
