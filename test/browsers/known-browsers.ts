import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { Readable, type Writable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { launchBrowser } from "../support/browser.ts";
import { freePort } from "../support/servers.ts";

/** A place in the window to which the mouse goes, or what becomes of its button. */
export type MouseStep = "down" | "up" | { readonly x: number; readonly y: number };

/** A browser with one window, in English. */
export interface RunningBrowser {
  open(url: string): Promise<unknown>;
  /** The value of an expression, or of its promise, in the page; it has to survive JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** Presses characters and keys, one after the other: "a", "Enter", "ControlOrMeta+a". */
  press(strokes: readonly string[]): Promise<unknown>;
  move(steps: readonly MouseStep[]): Promise<unknown>;
  /** What the pages have thrown and logged since this was asked before, as "level: text". */
  takeProblems(): Promise<string[]>;
}

/** Starts a browser with a profile in an empty folder. What is pushed to `closers` has to be called afterwards, the last one first. */
type Start = (folder: string, closers: (() => unknown)[]) => Promise<RunningBrowser>;

const size = { width: 1280, height: 900 };
const firefox = onPath("firefox-esr");
const [webKitDriver, xServer] = [onPath("WebKitWebDriver"), onPath("Xvfb")];

/** How each browser is started or, where it is not installed, what Debian calls its packages. */
export const knownBrowsers: Readonly<Record<string, string | Start>> = {
  Chromium: startChromium,
  Firefox: firefox ? (...where) => startFirefox(firefox, ...where) : "firefox-esr",
  WebKit:
    webKitDriver && xServer
      ? (...where) => startWebKit(webKitDriver, xServer, ...where)
      : "webkit2gtk-driver xvfb",
};

/** Where a browser with a profile in this folder puts what it downloads. */
export const downloadsIn = (folder: string): string => join(folder, "downloads");

async function startChromium(...[folder, closers]: Parameters<Start>): Promise<RunningBrowser> {
  const browser = await launchBrowser();
  closers.push(() => browser.close());
  const page = await browser.newPage({ viewport: size, locale: "en-US" });
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`error: ${String(error)}`));
  page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on("download", async (file) => {
    const path = join(downloadsIn(folder), file.suggestedFilename());
    await file.saveAs(`${path}.part`);
    await rename(`${path}.part`, path);
  });
  return {
    open: (url) => page.goto(url),
    evaluate: (expression) => page.evaluate(expression),
    async press(strokes) {
      for (const stroke of strokes) {
        await page.keyboard.press(stroke);
      }
    },
    async move(steps) {
      for (const step of steps) {
        await (typeof step === "string" ? page.mouse[step]() : page.mouse.move(step.x, step.y));
      }
    },
    takeProblems: () => Promise.resolve(problems.splice(0)),
  };
}

/** Firefox speaks WebDriver BiDi by itself: commands and events as JSON, on a WebSocket. */
async function startFirefox(path: string, ...[folder, closers]: Parameters<Start>): Promise<RunningBrowser> {
  const settings = {
    "intl.accept_languages": "en-US",
    "browser.download.folderList": 2,
    "browser.download.dir": downloadsIn(folder),
    // Its list of downloads would take the focus.
    "browser.download.alwaysOpenPanel": false,
  };
  const lines = Object.entries(settings).map((one) => `user_pref(${JSON.stringify(one).slice(1, -1)});\n`);
  await writeFile(join(folder, "user.js"), lines);
  const flags = ["--headless", "--no-remote", "--remote-debugging-port=0", "--profile", folder];
  const [, address = ""] = await firstLine(
    run(path, flags, { HOME: folder }, closers).stderr,
    /BiDi listening on (ws:\S+)/,
  );
  const socket = new WebSocket(`${address}/session`);
  await once(socket, "open");
  const waiting: ((answer: Answer) => void)[] = [];
  const problems: string[] = [];
  socket.addEventListener("message", ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id === undefined) {
      problems.push(`${answer.params?.level}: ${answer.params?.text}`);
    } else {
      waiting[answer.id]?.(answer);
    }
  });
  async function call(method: string, params: object): Promise<Record<string, unknown>> {
    const { result, ...rest } = await new Promise<Answer>((resolve) => {
      socket.send(JSON.stringify({ id: waiting.push(resolve) - 1, method, params }));
    });
    return result ?? assert.fail(`${method}: ${JSON.stringify(rest)}`);
  }
  await call("session.new", { capabilities: {} });
  // The first window of a headless Firefox never gets the focus.
  const { context } = await call("browsingContext.create", { type: "window" });
  await call("browsingContext.setViewport", { context, viewport: size });
  await call("session.subscribe", { events: ["log.entryAdded"], contexts: [context] });
  return {
    open: (url) => call("browsingContext.navigate", { context, url, wait: "complete" }),
    async evaluate(expression) {
      const asked = { expression: asText(expression), target: { context }, awaitPromise: true };
      const { result, exceptionDetails } = await call("script.evaluate", asked);
      const { value } = (result ?? {}) as { value?: string };
      return fromText(value ?? assert.fail(JSON.stringify(exceptionDetails)));
    },
    ...handsOf((actions) => call("input.performActions", { context, actions })),
    takeProblems: () => Promise.resolve(problems.splice(0)),
  };
}

/** Far more than WebKit's driver needs for one step on a busy computer. */
const longestCallMs = 20_000;

/** An answer to the command with this ID, or an event. */
interface Answer {
  readonly id?: number;
  readonly params?: { readonly level?: string; readonly text?: string };
  readonly result?: Record<string, unknown>;
}

/** The small browser of WebKitGTK, on a screen that nobody sees, by the earlier WebDriver: requests over HTTP. */
async function startWebKit(
  driver: string,
  xvfb: string,
  ...[folder, closers]: Parameters<Start>
): Promise<RunningBrowser> {
  const display = ["-displayfd", "3", "-screen", "0", "1400x1100x24", "-nolisten", "tcp"];
  const [number] = await firstLine(run(xvfb, display, {}, closers).stdio[3], /\d+/);
  await writeFile(join(folder, "user-dirs.dirs"), `XDG_DOWNLOAD_DIR="${downloadsIn(folder)}"\n`);
  const port = await freePort();
  const env = {
    DISPLAY: `:${number}`,
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    LC_ALL: "C",
    // Without a graphics card, each frame of a large page takes a second otherwise.
    WEBKIT_DISABLE_COMPOSITING_MODE: "1",
  };
  run(driver, [`--port=${port}`], env, closers);
  async function call(method: string, path: string, body?: object): Promise<unknown> {
    // It never answers for a script whose page goes away; who waits for something asks again.
    const signal = AbortSignal.timeout(longestCallMs);
    const init = { method, signal, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const { value } = (await response.json()) as { readonly value: unknown };
    return response.ok ? value : assert.fail(`${path}: ${JSON.stringify(value)}`);
  }
  // It does not say when it listens.
  for (let tries = 0; !(await succeeds(call("GET", "/status"))); tries += 1) {
    assert.ok(tries < 500, "WebKitWebDriver does not listen");
    await setTimeout(20);
  }
  const timeouts = { script: longestCallMs / 2, pageLoad: longestCallMs / 2 };
  const wanted = { capabilities: { alwaysMatch: { pageLoadStrategy: "none", timeouts } } };
  const { sessionId } = (await call("POST", "/session", wanted)) as { readonly sessionId: string };
  const session = `/session/${sessionId}`;
  closers.push(() => succeeds(call("DELETE", session)));
  const evaluate = async (expression: string): Promise<unknown> => {
    const script = `const [done] = arguments; ${asText(expression)}.then(done, (error) => done("!" + error))`;
    const text = String(await call("POST", `${session}/execute/async`, { script, args: [] }));
    return text.startsWith("!") ? assert.fail(text) : fromText(text);
  };
  await call("POST", `${session}/window/rect`, size);
  const toolbar = size.height - Number(await evaluate("innerHeight"));
  await call("POST", `${session}/window/rect`, { ...size, height: size.height + toolbar });
  const problems: string[] = [];
  const takeProblems = async (): Promise<string[]> =>
    problems.splice(0).concat((await evaluate("window.problems?.splice(0) ?? []")) as string[]);
  return {
    async open(url) {
      problems.push(...(await takeProblems()));
      await evaluate("window.isLeft = true");
      await call("POST", `${session}/url`, { url });
      // At once, to hear what its scripts say while they are loaded. Meanwhile the earlier page goes away, with what runs in it.
      while (!(await succeeds(evaluate(`window.isLeft ? Promise.reject() : ${listen}`)))) {}
    },
    evaluate,
    ...handsOf((actions) => call("POST", `${session}/actions`, { actions })),
    takeProblems,
  };
}

/** Runs in a page of which the driver reports nothing, from a few milliseconds after its beginning. */
const listen = `(() => {
  const problems = window.problems = [];
  for (const level of ["debug", "log", "info", "warn", "error"]) {
    console[level] = (...said) => problems.push(level + ": " + said.join(" "));
  }
  addEventListener("error", ({ message, target }) => problems.push("error: " + (message ?? target.outerHTML)), true);
  addEventListener("unhandledrejection", ({ reason }) => problems.push("error: " + reason));
  addEventListener("securitypolicyviolation", ({ violatedDirective }) => problems.push("error: " + violatedDirective));
})()`;

const asText = (expression: string): string =>
  `Promise.resolve(${expression}).then((value) => JSON.stringify([value]))`;

function fromText(text: string): unknown {
  const [value] = JSON.parse(text) as unknown[];
  return value;
}

/** WebDriver has characters of its own for keys. */
const keys: Readonly<Record<string, string>> = {
  Enter: "\uE007",
  Escape: "\uE00C",
  Tab: "\uE004",
  ControlOrMeta: "\uE009",
  ArrowLeft: "\uE012",
  ArrowRight: "\uE014",
  ArrowDown: "\uE015",
};

/** Both generations of WebDriver have the same words for what hands do. */
function handsOf(
  act: (actions: readonly object[]) => Promise<unknown>,
): Pick<RunningBrowser, "press" | "move"> {
  return {
    press(strokes) {
      const actions = strokes.flatMap((stroke) => {
        const values = stroke.split(/(?<=.)\+/).map((key) => keys[key] ?? key);
        const down = values.map((value) => ({ type: "keyDown", value }));
        return [...down, ...values.toReversed().map((value) => ({ type: "keyUp", value }))];
      });
      return act([{ type: "key", id: "keyboard", actions }]);
    },
    move(steps) {
      const actions = steps.map((step) =>
        typeof step === "string"
          ? { type: step === "down" ? "pointerDown" : "pointerUp", button: 0 }
          : { type: "pointerMove", x: Math.round(step.x), y: Math.round(step.y), duration: 0 },
      );
      return act([{ type: "pointer", id: "mouse", actions }]);
    },
  };
}

function onPath(name: string): string | undefined {
  return globSync((process.env["PATH"] ?? "").split(delimiter).map((dir) => join(dir, name)))[0];
}

function run(
  path: string,
  flags: readonly string[],
  env: NodeJS.ProcessEnv,
  closers: (() => unknown)[],
): ChildProcess {
  // On the fourth stream, an X server writes its number.
  const stdio = ["ignore", "ignore", "pipe", "pipe"] as const;
  const child = spawn(path, flags, { env: { ...process.env, ...env }, stdio: [...stdio] });
  const ended = once(child, "exit");
  closers.push(() => child.kill() && ended);
  return child;
}

/** The first line that matches. What comes after it is read as well, so that the program does not wait for that. */
function firstLine(
  stream: Writable | Readable | null | undefined,
  pattern: RegExp,
): Promise<RegExpExecArray> {
  assert.ok(stream instanceof Readable);
  return new Promise((resolve, reject) => {
    const lines = createInterface({ input: stream });
    lines.on("line", (line) => {
      const found = pattern.exec(line);
      if (found !== null) {
        resolve(found);
      }
    });
    lines.once("close", () => reject(new Error("It has ended.")));
  });
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
