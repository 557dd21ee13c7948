import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { pictureOf, readPackages, sha256Of, until, workFolders } from "../archive/support.ts";
import { startNodeRed, type NodeRed } from "../support/node-red.ts";
import { storeNode } from "../support/store-node.ts";

/** What became of a run in which Node-RED was killed again and again. */
export interface NodeRedKills {
  /** Times that a job was reported; more than there are jobs, where a kill came between the message and its note. */
  readonly reports: number;
  readonly resumed: number;
}

const jobs = 50;
/** Each fifth one is a message that brings its picture. */
const isOfMessage = (id: string): boolean => Number(id.slice(1)) % 5 === 0;

/**
 * An http request begins a job; each message and error that comes out becomes a line of a file. It is written at once: what a flow
 * does later with a message that it has got is lost with a kill.
 */
function flow(sim: Simulator, root: string, out: string): object[] {
  const at = { z: "tab", x: 100, y: 100 };
  const line = `fs.appendFileSync(${JSON.stringify(out)}, JSON.stringify({ id: msg.transactionId,
    resumed: msg.resumed === true, error: msg.error && msg.error.code,
    complete: msg.payload && msg.payload.complete }) + "\\n");`;
  const kind = `const bytes = msg.payload.picture;
    msg.transactionId = msg.payload.id;
    if (bytes) { msg.payload = Buffer.from(bytes, "base64"); msg.contentType = "image/jpeg"; return [null, msg]; }
    return [msg, null];`;
  const archive = { ...at, type: "dimensioner-archive", cloud: "cloud", store: "store", wires: [["line"]] };
  return [
    { id: "tab", type: "tab", label: "kills" },
    storeNode(root, "store"),
    {
      id: "cloud",
      type: "dimensioner-cloud",
      baseUrl: sim.cloud.origin,
      credentials: { token: sim.cloud.token },
    },
    { ...at, id: "in", type: "http in", url: "/scan", method: "post", wires: [["kind", "answer"]] },
    { ...at, id: "answer", type: "http response", wires: [] },
    {
      ...at,
      id: "kind",
      type: "function",
      func: kind,
      outputs: 2,
      wires: [["from-cloud"], ["from-message"]],
    },
    { ...archive, id: "from-cloud", source: "cloud" },
    { ...archive, id: "from-message", source: "message" },
    { ...at, id: "catch", type: "catch", scope: null, wires: [["line"]] },
    {
      ...at,
      id: "line",
      type: "function",
      func: line,
      outputs: 0,
      libs: [{ var: "fs", module: "fs" }],
      wires: [],
    },
  ];
}

/**
 * Runs 50 jobs in a Node-RED that is killed so many times at random moments. In the end each job that the database ever held was
 * reported, and has one whole package. `random` gives numbers from 0 to 1.
 */
export async function killNodeRed(major: 4 | 5, kills: number, random: () => number): Promise<NodeRedKills> {
  const folder = await mkdtemp(join(tmpdir(), "archive-kills-"));
  const [root, userDir, out] = ["packages", "user", "out.txt"].map((name) => join(folder, name));
  assert.ok(root !== undefined && userDir !== undefined && out !== undefined);
  await Promise.all([mkdir(root), mkdir(userDir), writeFile(out, "")]);
  const sim = await startSimulator();
  let nodeRed: NodeRed | undefined;
  try {
    const ids = Array.from({ length: jobs }, (_, index) => `j${index}`);
    for (const id of ids.filter((one) => !isOfMessage(one))) {
      sim.cloud.addMedia(id, { contentType: "image/jpeg", bytes: pictureOf(id) });
      sim.cloud.addMedia(id, { contentType: "video/mp4", generateBytes: 200_000 });
    }
    const flows = flow(sim, root, out);
    const accepted = new Set<string>();
    for (let round = 0; round < kills; round += 1) {
      nodeRed = await startNodeRed({ major, userDir, ...(round === 0 ? { flows } : {}) });
      const { url } = nodeRed;
      // New jobs come all the time, so that a kill meets jobs of every age.
      const upTo = Math.ceil((jobs * (round + 1)) / kills);
      ids
        .slice(0, upTo)
        .filter((id) => !accepted.has(id))
        .forEach((id) => void scan(url, id));
      await delay(random() * 400);
      await nodeRed.kill();
      nodeRed = undefined;
      acceptedIn(userDir).forEach((id) => accepted.add(id));
    }
    nodeRed = await startNodeRed({ major, userDir });
    const { url } = nodeRed;
    ids.filter((id) => !accepted.has(id)).forEach((id) => void scan(url, id));
    const reported = async () => (await readFile(out, "utf8")).split("\n").flatMap(readLine);
    await until(
      async () => new Set((await reported()).map(({ id }) => id)).size === jobs,
      "all reported",
      60_000,
    );
    await until(async () => (await workFolders(root)).length === 0, "all is tidied", 20_000);
    await nodeRed.stop();
    nodeRed = undefined;

    const reports = await reported();
    assert.deepEqual(
      reports.filter(({ error, complete }) => error !== undefined || complete !== true),
      [],
    );
    const packages = [...(await readPackages(root)).values()];
    assert.deepEqual(packages.map(({ transactionId }) => transactionId).sort(), ids.toSorted());
    for (const { transactionId, items } of packages) {
      assert.equal(items.length, isOfMessage(transactionId) ? 1 : 2, transactionId);
      assert.ok(items.some(({ sha256 }) => sha256 === sha256Of(pictureOf(transactionId))));
    }
    return { reports: reports.length, resumed: reports.filter(({ resumed }) => resumed).length };
  } finally {
    await nodeRed?.kill();
    await sim.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function scan(url: string, id: string): Promise<void> {
  const picture = isOfMessage(id) ? pictureOf(id).toString("base64") : undefined;
  const headers = { "content-type": "application/json" };
  // Nobody answers when Node-RED is killed.
  await fetch(`${url}/scan`, { method: "POST", headers, body: JSON.stringify({ id, picture }) }).catch(
    () => undefined,
  );
}

/** The jobs that the database holds, seen from outside. */
function acceptedIn(userDir: string): string[] {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(userDir, "dimensioner", "store.sqlite"), { readOnly: true });
    return database
      .prepare("SELECT transaction_id FROM jobs")
      .all()
      .map((row) => String(row["transaction_id"]));
  } catch {
    // The first kill came before the database and its tables were made.
    return [];
  } finally {
    database?.close();
  }
}

interface Report {
  readonly id: string;
  readonly resumed: boolean;
  readonly error?: string;
  readonly complete?: boolean;
}

/** A line that a kill has cut is none. */
function readLine(line: string): Report[] {
  try {
    return [JSON.parse(line) as Report];
  } catch {
    return [];
  }
}
