import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { statSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { hashPassword } from "../../src/access/logins.ts";
import { ownPackagesFolder } from "../../src/properties/property-table.ts";
import { type Simulator, startSimulator } from "../../src/simulator/index.ts";
import {
  type FlowNode,
  connected,
  readExample,
  shippedOrigins,
  simulatorSecret,
  together,
} from "../../test/support/examples.ts";
import { type NodeRed, type NodeRedOptions, startNodeRed } from "../../test/support/node-red.ts";

const editorPort = 1880;
const controlPort = 8100;
const scannerPort = 8104;

/** Everything that the demo starts. */
export interface DemoEnvironment {
  readonly simulator: Simulator;
  readonly nodeRed: NodeRed;
  /** The flow that the demo runs, and all deployed flows. */
  readonly flow: readonly FlowNode[];
  readonly flows: readonly FlowNode[];
  readonly archive: string;
  /** The evidence page of the demo's store; the password is a new one for each start. */
  readonly page: { readonly url: string; readonly name: string; readonly password: string };
  close(): Promise<void>;
}

export interface DemoOptions {
  /** An existing folder; without it a temporary one, which close() removes. */
  readonly archive: string | undefined;
  /** What lies on the table; null leaves it empty. */
  readonly parcel: string | null;
  /** Which examples to deploy, each by the start of its name; the first is the one that the demo runs. */
  readonly examples?: readonly string[];
  /** Further packages that the examples need, by name: those of this repository are linked into the user directory. */
  readonly packages?: readonly string[];
  /** More of Node-RED's settings. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** Starts the simulator and a Node-RED that runs the examples on it, on the usual ports where they are free. */
export async function startDemo({
  archive,
  parcel,
  examples = ["01", "02", "03"],
  packages = [],
  settings = {},
}: DemoOptions): Promise<DemoEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), "dimensioner-demo-"));
  const closers = [() => rm(folder, { recursive: true, force: true, maxRetries: 3 })];
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) {
      await closer();
    }
  };
  try {
    const userDir = join(folder, "node-red");
    const archiveFolder = resolve(archive ?? join(userDir, ownPackagesFolder));
    if (archive !== undefined && !statSync(archiveFolder, { throwIfNoEntry: false })?.isDirectory()) {
      throw new Error(`--archive needs an existing folder: ${archive} is not one.`);
    }
    await mkdir(userDir);
    for (const name of packages) {
      const link = join(userDir, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), link, "dir");
    }
    const endWithParent = pathToFileURL(join(import.meta.dirname, "end-with-parent.mjs")).href;
    const nodeRed = await startOnUsualPort({
      major: 5,
      userDir,
      // The palette has every node of Node-RED, and those of the packing station, so that people can try them.
      settings: { nodesExcludes: [], ...settings },
      dashboard: true,
      env: { DIMENSIONER_ARCHIVE: archiveFolder, NODE_OPTIONS: `--import=${endWithParent}` },
    });
    closers.push(() => nodeRed.stop());
    const simulator = await startOnUsualPorts(parcel, `${nodeRed.url}/dimensioner/transaction`);
    closers.push(() => simulator.close());

    const { newer, earlier, cloud } = simulator;
    const origins = { newer: newer.origin, earlier: earlier.origin, cloud: cloud.origin };
    const [flow = [], ...others] = await Promise.all(
      // A package is complete two seconds after the last medium, since the simulator is never slow.
      examples.map(async (start) =>
        connected(await readExample(start), origins).map((node) =>
          "settle" in node ? { ...node, settle: "2" } : node,
        ),
      ),
    );
    // The first store serves the evidence page, with one login.
    const url = `${nodeRed.url}/evidence/`;
    const page = { url, name: "demo", password: randomBytes(9).toString("base64url") };
    const hash = await hashPassword(page.password);
    const credentials = { logins: JSON.stringify([{ name: page.name, right: "manage", hash }]) };
    const folderOfStore = archive === undefined ? {} : { folder: archiveFolder };
    const nodes = together([flow, ...others]);
    const store = nodes.find(({ type }) => type === "dimensioner-store");
    const flows = nodes.map((node) =>
      node === store ? { ...node, ...folderOfStore, path: "evidence", url, credentials } : node,
    );
    await nodeRed.deploy(flows);
    return { simulator, nodeRed, flow, flows, archive: archiveFolder, page, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Starts Node-RED on its usual port, or on a free one if another program uses that, even if the other one takes the
 * port while this one starts.
 */
async function startOnUsualPort(options: NodeRedOptions): Promise<NodeRed> {
  const start = (uiPort: number) => startNodeRed({ ...options, settings: { uiPort, ...options.settings } });
  if (!(await isFree(editorPort))) {
    return start(0);
  }
  try {
    return await start(editorPort);
  } catch {
    // Whoever took the port may have given it up again since: another demo does so that looks whether it is free.
    return start(0);
  }
}

/** Starts the simulator at the examples' addresses, or on free ports if another program uses them. */
async function startOnUsualPorts(parcel: string | null, webhook: string): Promise<Simulator> {
  const options = {
    parcel,
    measureMs: 500,
    encodingMs: 2000,
    mediaDelayMs: 1000,
    webhooks: [{ url: webhook, header: { name: "x-webhook-secret", value: simulatorSecret } }],
  };
  const portOf = (origin: string) => Number(new URL(origin).port);
  const usual = {
    newer: portOf(shippedOrigins.newer),
    earlier: portOf(shippedOrigins.earlier),
    cloud: portOf(shippedOrigins.cloud),
    control: controlPort,
    scanner: scannerPort,
  };
  try {
    return await startSimulator({ ...options, ports: usual });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) {
      throw error;
    }
    return startSimulator(options);
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen(port, "127.0.0.1");
  try {
    await once(probe, "listening");
    return true;
  } catch {
    return false;
  } finally {
    probe.close();
  }
}
