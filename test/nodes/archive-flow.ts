/** A flow that archives what is posted to it, for tests that watch a real Node-RED from outside. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Simulator } from "../../src/simulator/index.ts";
import { pictureOf, readPackages, sha256Of } from "../archive/support.ts";
import { storeNode } from "../support/store-node.ts";

/** A line that the flow has written: a message or an error that came out of an archive node. */
export interface Report {
  readonly id: string;
  readonly resumed: boolean;
  readonly error?: string;
  readonly complete?: boolean;
}

/** The file of settings of a Node-RED with this flow. */
export const archiveFlowSettings = join(import.meta.dirname, "with-fs.cjs");

/** Each fifth one is a message that brings its picture. */
const isOfMessage = (id: string): boolean => Number(id.slice(1)) % 5 === 0;

/**
 * An http request begins a job; each message and error that comes out becomes a line of a file. It is written at once: what a flow
 * does later with a message that it has got is lost with a kill. Needs `archiveFlowSettings`.
 */
export function archiveFlow(sim: Simulator, root: string, out: string): object[] {
  const at = { z: "tab", x: 100, y: 100 };
  const line = `global.get("fs").appendFileSync(${JSON.stringify(out)}, JSON.stringify({ id: msg.transactionId,
    resumed: msg.resumed === true, error: msg.error && msg.error.code,
    complete: msg.payload && msg.payload.complete }) + "\\n");`;
  const kind = `const bytes = msg.payload.picture;
    msg.transactionId = msg.payload.id;
    if (bytes) { msg.payload = Buffer.from(bytes, "base64"); msg.contentType = "image/jpeg"; return [null, msg]; }
    return [msg, null];`;
  const archive = { ...at, type: "dimensioner-archive", cloud: "cloud", store: "store", wires: [["line"]] };
  return [
    { id: "tab", type: "tab", label: "archive" },
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
    { ...archive, id: "from-cloud", settle: 0 },
    { ...archive, id: "from-message", cloud: "" },
    { ...at, id: "catch", type: "catch", scope: null, wires: [["line"]] },
    { ...at, id: "line", type: "function", func: line, outputs: 0, wires: [] },
  ];
}

/** Gives the simulated cloud a picture of each transaction that is not a message's, and a video where it has a size. */
export function addMedia(sim: Simulator, ids: readonly string[], videoBytes = 0): void {
  for (const id of ids.filter((one) => !isOfMessage(one))) {
    sim.cloud.addMedia(id, { contentType: "image/jpeg", bytes: pictureOf(id) });
    if (videoBytes > 0) {
      sim.cloud.addMedia(id, { contentType: "video/mp4", generateBytes: videoBytes });
    }
  }
}

/** Begins a job in the Node-RED at this address. */
export async function scan(url: string, id: string): Promise<void> {
  const picture = isOfMessage(id) ? pictureOf(id).toString("base64") : undefined;
  // Node-RED ends a connection that is kept after 5 s, which can be when the next scan begins on it.
  const headers = { "content-type": "application/json", connection: "close" };
  // Nobody answers when Node-RED is killed.
  await fetch(`${url}/scan`, { method: "POST", headers, body: JSON.stringify({ id, picture }) }).catch(
    () => undefined,
  );
}

/** What has come out so far. */
export async function readReports(out: string): Promise<Report[]> {
  const lines = (await readFile(out, "utf8")).split("\n");
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as Report];
    } catch {
      // A kill has cut it.
      return [];
    }
  });
}

/** Asserts that there is one package for each transaction, whole and with its media, and nothing else. */
export async function checkPackages(root: string, ids: readonly string[], videos = 1): Promise<void> {
  const packages = [...(await readPackages(root)).values()];
  assert.deepEqual(packages.map(({ transactionId }) => transactionId).sort(), ids.toSorted());
  for (const { transactionId: id, items } of packages) {
    const transactionId = id ?? "";
    assert.equal(items.length, isOfMessage(transactionId) ? 1 : 1 + videos, transactionId);
    assert.ok(items.some(({ sha256 }) => sha256 === sha256Of(pictureOf(transactionId))));
  }
}
