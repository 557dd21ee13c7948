import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { hashPassword } from "../../src/access/logins.ts";
import { ownPackagesFolder } from "../../src/properties/property-table.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { connected, readExample, together, type FlowNode } from "../support/examples.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { freePort } from "../support/servers.ts";

const dashboard = "@flowfuse/node-red-dashboard";

/** Who may see the evidence page of the station's store. */
export const evidenceLogin = { name: "claims", password: "claims desk" };

export interface StationOptions {
  /** Written over the variables of the tab: the settings of the example. */
  readonly settings?: Readonly<Record<string, string>>;
  /** More examples to deploy, each by the start of its name. */
  readonly more?: readonly string[];
  /** Whether Node-RED keeps context on disk. */
  readonly keepsContext?: boolean;
  /** The text of a settings file, over the settings of the tests. */
  readonly settingsFile?: string;
}

/** The example “30 packing station” in a Node-RED that has Dashboard 2, with two newer devices and a cloud behind it. */
export interface StationRun {
  readonly nodeRed: NodeRed;
  /** The device of dock 1 and the cloud. */
  readonly simulator: Simulator;
  /** Its newer device is that of dock 2. */
  readonly second: Simulator;
  readonly nodes: readonly FlowNode[];
  /** The folder of packages. */
  readonly archive: string;
  /** Where Node-RED keeps context on disk. */
  readonly contexts: string;
  /** Ends Node-RED as a power cut would, and starts it again at the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startStation({
  settings = {},
  more = [],
  keepsContext = false,
  settingsFile = "",
}: StationOptions = {}): Promise<StationRun> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) {
      await closer();
    }
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "station-"));
    closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
    const userDir = join(folder, "node-red");
    const archive = join(userDir, ownPackagesFolder);
    await mkdir(join(userDir, "node_modules", dirname(dashboard)), { recursive: true });
    const installed = dirname(createRequire(import.meta.url).resolve(`${dashboard}/package.json`));
    await symlink(installed, join(userDir, "node_modules", dashboard), "dir");
    // Nobody else is given this port while nothing listens on it.
    const uiPort = await freePort();
    const contextStorage = { default: { module: "localfilesystem", config: { flushInterval: 1 } } };
    const runtime = { uiPort, ...(keepsContext ? { contextStorage } : {}) };
    const written = join(folder, "settings-of-the-user.cjs");
    await writeFile(written, settingsFile);
    const options = {
      major: nodeRedMajor,
      userDir,
      settings: runtime,
      settingsFile: written,
    } as const;
    let nodeRed = await startNodeRed(options);
    closers.push(() => nodeRed.stop());
    const restart = async () => {
      await nodeRed.kill();
      nodeRed = await startNodeRed(options);
    };
    const url = `${nodeRed.url}/dimensioner/transaction`;
    const webhook = { url, header: { name: "x-webhook-secret", value: "simulator" } };
    const simulator = await startSimulator({
      // While it is switched off, no other process gets a port that the system does not give away.
      ports: { newer: await freePort() },
      encodingMs: 50,
      mediaDelayMs: 50,
      webhooks: [webhook],
    });
    closers.push(() => simulator.close());
    const second = await startSimulator({ ports: { newer: await freePort() }, encodingMs: 50 });
    closers.push(() => second.close());
    const origins = {
      newer: simulator.newer.origin,
      earlier: second.newer.origin,
      cloud: simulator.cloud.origin,
    };
    const examples = await Promise.all(["30", ...more].map((start) => readExample(start)));
    const hash = await hashPassword(evidenceLogin.password);
    const logins = JSON.stringify([{ name: evidenceLogin.name, right: "manage", hash }]);
    const page = { path: "evidence", credentials: { logins } };
    const nodes = together(examples.map((one) => connected(one, origins))).map((node) =>
      node.type === "dimensioner-store" ? { ...node, ...page } : withSettings(node, settings),
    );
    await nodeRed.deploy(nodes);
    return {
      get nodeRed() {
        return nodeRed;
      },
      simulator,
      second,
      nodes,
      archive,
      contexts: join(userDir, "context"),
      restart,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The same flow with other variables of its tab. */
export function changed(
  nodes: readonly FlowNode[],
  settings: Readonly<Record<string, string>>,
): readonly FlowNode[] {
  return nodes.map((node) => {
    if (node.type !== "tab" || !Array.isArray(node["env"])) {
      return node;
    }
    const env = node["env"] as { name: string; value: string }[];
    return { ...node, env: env.map((one) => ({ ...one, value: settings[one.name] ?? one.value })) };
  });
}

/** Both docks have a newer device here, which records. */
function withSettings(node: FlowNode, settings: Readonly<Record<string, string>>): FlowNode {
  if (node.type === "dimensioner-device") {
    return { ...node, generation: "newer", checkInterval: "1" };
  }
  if (node.type === "dimensioner-archive") {
    return { ...node, settle: "0.2" };
  }
  if (node.name === "Every 30 seconds") {
    return { ...node, repeat: "1" };
  }
  const stations = JSON.stringify({
    "dock-1": { device: "Dock 1", video: true, cloud: "Dimensioner cloud" },
    "dock-2": { device: "Dock 2", video: true },
  });
  const [with30 = node] = changed([node], { STATIONS: stations, IGNORE_REPEATS: "0", ...settings });
  return with30;
}

/** The folders of all packages, whatever the day on which each was made. */
export async function packagesIn(archive: string): Promise<string[]> {
  const days = (await readdir(archive)).filter((name) => !name.startsWith("."));
  return (await Promise.all(days.map((day) => readdir(join(archive, day))))).flat();
}
