import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const repository = dirname(dirname(import.meta.dirname));
const defaultLanguage = "en-US";
const packageName = "@dimflow/node-red-dimensioner";
/** Node-RED finds it among the dependencies of this package, and takes a fifth longer to start with it. */
const dashboardName = "@flowfuse/node-red-dashboard";

/** The Node-RED that is tested on this Node.js: 4.1 on Node 22, 5.0 on Node 24 and later. */
export const nodeRedMajor: 4 | 5 = Number.parseInt(process.versions.node, 10) >= 24 ? 5 : 4;

/** Core nodes that no flow of ours has. Node-RED starts in three quarters of the time without the parsers that they load. */
const unusedNodes = [
  "16-range.js",
  "23-watch.js",
  "28-tail.js",
  "32-udp.js",
  "70-HTML.js",
  "70-XML.js",
  "70-YAML.js",
];

const ownEnvironment = {
  LC_ALL: "C.UTF-8",
  NODE_OPTIONS: "",
};

/** How long Node-RED may take to start, to deploy or to say what a test waits for. */
const patienceMs = 90_000;

export interface NodeRedOptions {
  /** Which Node-RED to start: 4 is 4.1, 5 is 5.0. */
  major: 4 | 5;
  /** Kept by the caller and holding what it likes; without it a folder of its own, gone with stop(). */
  userDir?: string;
  /** Where the package is installed that is linked into the user folder; this repository without it. */
  packageDir?: string;
  /** Deployed once Node-RED is up; nodes may carry `credentials`. */
  flows?: readonly object[];
  /** Written over the defaults, those of the editor's theme one by one; must survive JSON. */
  settings?: Readonly<Record<string, unknown>> & { readonly editorTheme?: object };
  /** The path of another settings file, whose settings are written over those: it may hold what JSON cannot. */
  settingsFile?: string;
  /** Whether to load Dashboard 2; without it, only where the user folder has it. */
  dashboard?: boolean;
  /** Added to the environment. */
  env?: Readonly<Record<string, string>>;
}

/** What Node-RED restarts: everything, the flows with changes, or the nodes with changes; or everything with the flows that it has. */
export type DeployType = "full" | "flows" | "nodes" | "reload";

export interface NodeRed {
  /** The editor's address, without a slash at the end. */
  readonly url: string;
  readonly pid: number;
  readonly userDir: string;
  /** Every line that Node-RED has printed so far. */
  readonly logs: readonly string[];
  /** The next line that matches, counted from now; rejects when Node-RED ends or nothing comes. */
  nextLine(pattern: RegExp): Promise<string>;
  /** fetch on the admin API; the path starts with a slash. */
  adminFetch(path: string, init?: RequestInit): Promise<Response>;
  /** Replaces the flows and resolves when they run; by default restarts all of them. */
  deploy(flows: readonly object[], type?: DeployType): Promise<void>;
  /** Ends the process at once, as a power cut would; what this helper made stays for `stop`. */
  kill(): Promise<void>;
  /** Ends Node-RED as a service manager would, and removes what this helper made. */
  stop(): Promise<void>;
}

/**
 * Starts a real Node-RED on a free loopback port, with this package linked into its user folder, and resolves when its flows run.
 */
export async function startNodeRed(options: NodeRedOptions): Promise<NodeRed> {
  const ownDir = options.userDir === undefined ? await mkdtemp(join(tmpdir(), "node-red-")) : null;
  const userDir = options.userDir ?? (ownDir as string);
  await linkPackage(userDir, options.packageDir ?? repository);
  const { dashboard = existsSync(join(userDir, "node_modules", dashboardName)) } = options;
  const settingsFile = join(userDir, "settings.cjs");
  const settings = JSON.stringify(settingsFor(userDir, dashboard, options.settings));
  const more =
    options.settingsFile === undefined ? "" : `...require(${JSON.stringify(options.settingsFile)})`;
  await writeFile(settingsFile, `module.exports = { ...${settings}, ${more} };\n`);

  await writeFile(join(userDir, ".config.users.json"), JSON.stringify(editorSettings));

  const child = spawn(
    process.execPath,
    [redScript(options.major), "--settings", settingsFile, "--userDir", userDir],
    {
      cwd: userDir,
      env: { ...process.env, ...ownEnvironment, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const output = readLines(child);
  const { lang = defaultLanguage } = options.settings ?? {};
  const says = logTexts(options.major, typeof lang === "string" ? lang : defaultLanguage);

  async function stop(): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), patienceMs / 2);
      await exited;
      clearTimeout(killer);
    }
    if (ownDir !== null) {
      await rm(ownDir, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  async function kill(): Promise<void> {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  try {
    const [listening] = await Promise.all([output.nextLine(says.running), output.nextLine(says.started)]);
    const url = says.running.exec(listening)?.[1] ?? "";
    const adminFetch = (path: string, init?: RequestInit) => {
      const headers = new Headers(init?.headers);
      // A connection that is kept may be ended by Node-RED, after 5 s, at the moment when the next request begins on it.
      headers.set("connection", "close");
      return fetch(url + path, { ...init, headers });
    };
    const deploy = async (flows: readonly object[], type: DeployType = "full") => {
      const started = output.nextLine(says.started);
      // Node-RED may end before it has answered.
      started.catch(() => undefined);
      const answer = await adminFetch("/flows", {
        method: "POST",
        headers: { "Content-Type": "application/json", "Node-RED-Deployment-Type": type },
        body: JSON.stringify(flows),
      });
      if (!answer.ok) {
        throw new Error(`Node-RED did not take the flows (${answer.status}): ${await answer.text()}`);
      }
      await started;
    };
    if (options.flows !== undefined) {
      await deploy(options.flows);
    }
    const { lines: logs, nextLine } = output;
    return { url, pid: child.pid ?? 0, userDir, logs, nextLine, adminFetch, deploy, kill, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * What the users of the editor have set there: no tips. Node-RED shows the first one a second after it has read these
 * settings, and throws if that is before it has built the sidebar, as on a busy machine.
 */
const withoutTips = { editor: { view: { "view-show-tips": false } } };
const editorSettings = { _: withoutTips, admin: withoutTips };

function settingsFor(
  userDir: string,
  dashboard: boolean,
  { editorTheme, ...settings }: NodeRedOptions["settings"] = {},
) {
  const denyList = dashboard ? [] : [dashboardName];
  return {
    uiHost: "127.0.0.1",
    uiPort: 0,
    userDir,
    flowFile: "flows.json",
    credentialSecret: "only for tests",
    lang: defaultLanguage,
    telemetry: { enabled: false, updateNotification: false },
    // Without these Node-RED asks npm for its version and the internet for updates.
    externalModules: { autoInstall: false, palette: { allowInstall: false, allowUpload: false, denyList } },
    editorTheme: { tours: false, projects: { enabled: false }, palette: { editable: false }, ...editorTheme },
    logging: { console: { level: "info", metrics: false, audit: false } },
    nodesExcludes: unusedNodes,
    ...settings,
  };
}

async function linkPackage(userDir: string, packageDir: string): Promise<void> {
  const link = join(userDir, "node_modules", packageName);
  if (existsSync(link)) {
    return;
  }
  await mkdir(dirname(link), { recursive: true });
  await symlink(packageDir, link, "dir");
}

function redScript(major: 4 | 5): string {
  return join(dirname(manifestOf(major)), "red.js");
}

function manifestOf(major: 4 | 5): string {
  return createRequire(import.meta.url).resolve(`node-red-${major}/package.json`);
}

/** The lines to wait for, as this Node-RED's own catalog has them in the language that it logs in. */
function logTexts(major: 4 | 5, language: string): { readonly running: RegExp; readonly started: RegExp } {
  const runtime = createRequire(manifestOf(major)).resolve("@node-red/runtime/package.json");
  // A language that Node-RED itself does not have may be one of this package.
  const files = [language, language.split("-")[0] ?? "", defaultLanguage].map((one) =>
    join(dirname(runtime), "locales", one, "runtime.json"),
  );
  const file = files.find((one) => existsSync(one)) ?? "";
  const { server, nodes } = JSON.parse(readFileSync(file, "utf8")) as {
    server: Record<string, string>;
    nodes: { flows: Record<string, string> };
  };
  const escape = (text = ""): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const started = ["started-flows", "started-modified-flows", "started-modified-nodes"];
  return {
    running: new RegExp(escape(server["now-running"]).replace("__listenpath__", "(http://[\\w.:-]+)/")),
    started: new RegExp(started.map((key) => escape(nodes.flows[key])).join("|")),
  };
}

function readLines(child: ChildProcess) {
  const lines: string[] = [];
  const listeners = new Set<(line: string | null) => void>();
  const tell = (line: string | null) => {
    for (const listener of listeners) {
      listener(line);
    }
  };
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) {
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        tell(line);
      });
    }
  }
  child.once("close", () => tell(null));
  child.once("error", (error) => {
    lines.push(String(error));
    tell(null);
  });

  function nextLine(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer);
        listeners.delete(listener);
        act();
      };
      const fail = (what: string) =>
        settle(() =>
          reject(new Error(`${what} before a line matched ${pattern}:\n${lines.slice(-40).join("\n")}`)),
        );
      const listener = (line: string | null) => {
        if (line === null) {
          fail("Node-RED ended");
        } else if (pattern.test(line)) {
          settle(() => resolve(line));
        }
      };
      const timer = setTimeout(() => fail(`${patienceMs} ms passed`), patienceMs);
      listeners.add(listener);
      if (child.exitCode !== null || child.signalCode !== null) {
        fail("Node-RED had ended");
      }
    });
  }
  return { lines: lines as readonly string[], nextLine };
}
