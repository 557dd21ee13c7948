import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FlowNode, Message } from "../support/flow.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import type { Opened } from "../support/opened.ts";
import { token } from "../support/operations.ts";
import { actionNodes } from "./action-nodes.ts";
import { chosen } from "./chosen-rows.ts";
import { prepareDiskFolder } from "./disk-folder.ts";
import { nodesOf, prepareNodeCases, type NodeCase } from "./node-cases.ts";
import { endingOf, type Row } from "./row.ts";
import { untilArrived, untilSent } from "./short-deadlines.ts";
import { lookInto } from "./sources.ts";
import { disk } from "./tables/disk.ts";
import { strictDiskRows, strictRows } from "./tables/strict-process.ts";

/** Prints when each message comes to a node and how it ends there, as the runtime's own hooks see it. */
const watcher = `module.exports = (RED) => {
  RED.hooks.add("onReceive.watch", ({ msg, destination }) => console.log("TAKEN", destination.id, msg._msgid));
  RED.hooks.add("onComplete.watch", ({ node, msg, error }) =>
    console.log("ENDED", node.id, msg._msgid, error?.code ?? "well", error?.cause?.outcome ?? null));
};`;

const traces = /uncaught|unhandled|triggerUncaught|\bat .*\.js:\d+:\d+/i;

/** The deploy is to find them at work, however long a busy computer takes to begin them all. */
const timeoutMs = 600_000;
const silent: Row = { faults: [{ kind: "silence", acts: false }], timeoutMs, measure: {}, video: {} };
const halfway: Row = { faults: [{ kind: "cut", end: "hold" }], timeoutMs, download: {} };

describe(`Node-RED ${nodeRedMajor} as a process that any unhandled error would end`, () => {
  const open: { close(): unknown }[] = [];
  const opened: Opened = (thing) => {
    open.push(thing);
    return thing;
  };
  let nodeRed: NodeRed;
  let flows: object[];
  const cases = new Map<string, NodeCase[]>();

  const casesOf = (name: string): readonly NodeCase[] => cases.get(name) ?? assert.fail(name);
  const linesOf = ({ id }: NodeCase, what: "TAKEN" | "ENDED"): string[] =>
    nodeRed.logs
      .filter((line) => line.startsWith(`${what} ${id} `))
      .map((line) => line.split(" ").slice(2).join(" "));

  before(async () => {
    for (const { name, row, nodes } of chosen.filter((one) => strictRows.includes(one.name))) {
      cases.set(name, await prepareNodeCases(row, nodes, `row-${cases.size}`, opened));
    }
    const media = actionNodes.filter(({ operation }) => operation === "media");
    for (const name of strictDiskRows) {
      cases.set(name, await prepareNodeCases({ script: [{}] }, media, `disk-${cases.size}`, opened));
    }
    for (const [name, row] of Object.entries({ silent, halfway })) {
      const able = actionNodes.filter((node) => endingOf(row, node) !== undefined);
      cases.set(name, await prepareNodeCases(row, able, name, opened));
    }
    const made = await Promise.all(
      [...cases].flatMap(([name, some]) => some.map((one) => flowOf(name, one))),
    );
    flows = [{ id: "tab", type: "tab" }, ...made.flat()];
    const userDir = await mkdtemp(join(tmpdir(), "strict-"));
    opened({ close: () => rm(userDir, { recursive: true, force: true, maxRetries: 3 }) });
    await mkdir(join(userDir, "nodes"));
    await writeFile(join(userDir, "nodes", "watcher.js"), watcher);
    // Node-RED takes no file without one of these beside it.
    await writeFile(join(userDir, "nodes", "watcher.html"), "");
    nodeRed = await startNodeRed({
      major: nodeRedMajor,
      userDir,
      flows,
      env: { NODE_OPTIONS: "--unhandled-rejections=strict" },
    });
    opened({ close: () => nodeRed.stop() });
  });
  after(async () => {
    for (const thing of open.reverse()) {
      await thing.close();
    }
  });

  /** A post goes in as the message, and how it ended comes out as the answer. */
  async function flowOf(name: string, nodeCase: NodeCase): Promise<FlowNode[]> {
    const { config, action } = nodesOf(nodeCase);
    const { id } = nodeCase;
    const place = { z: "tab", x: 100, y: 100 };
    const row = disk[name];
    const prepared = row === undefined ? undefined : await prepareDiskFolder(row, opened);
    const saved =
      prepared === undefined ? {} : { folder: prepared.folder, ifExists: row?.ifExists ?? "rename" };
    const named = { filename: "file", filenameType: "msg" };
    const take = "return Object.assign(msg, { payload: undefined }, msg.payload);";
    const say = "msg.payload = { code: msg.error?.code ?? null }; return msg;";
    return [
      { ...config, ...("baseUrl" in config ? { credentials: { token } } : {}) },
      { ...place, ...action, ...saved, ...(prepared === undefined ? {} : named), wires: [[`say-${id}`]] },
      {
        ...place,
        id: `in-${id}`,
        type: "http in",
        url: `/runCase/${id}`,
        method: "post",
        wires: [[`take-${id}`]],
      },
      { ...place, id: `take-${id}`, type: "function", func: take, wires: [[id]] },
      { ...place, id: `catch-${id}`, type: "catch", scope: [id], wires: [[`say-${id}`]] },
      { ...place, id: `say-${id}`, type: "function", func: say, wires: [[`out-${id}`]] },
      { ...place, id: `out-${id}`, type: "http response", wires: [] },
    ];
  }

  function post({ id, node, peer }: NodeCase, more: Message = {}, signal?: AbortSignal): Promise<Response> {
    return nodeRed.adminFetch(`/runCase/${id}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ...node.message(peer), ...more }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** What the log says of how it ended. The answer can be here before it: they come by different ways. */
  async function endsOf(nodeCase: NodeCase, fewest = 1): Promise<string[]> {
    while (linesOf(nodeCase, "ENDED").length < fewest) {
      await nodeRed.nextLine(/ENDED/);
    }
    return linesOf(nodeCase, "ENDED");
  }

  /** Still there, and not a word of an error that nobody took. */
  async function isWell(): Promise<void> {
    assert.equal((await nodeRed.adminFetch("/settings")).status, 200);
    assert.deepEqual(
      nodeRed.logs.filter((line) => traces.test(line)),
      [],
    );
  }

  for (const name of strictRows) {
    it(name, async () => {
      await Promise.all(
        casesOf(name).map(async (nodeCase) => {
          const { node, row, peer, folder } = nodeCase;
          const ending = endingOf(row, node) ?? assert.fail();
          const { code = null, outcome, fewest, most } = ending;
          await peer.arm();
          let posts = 0;
          const run = async (): Promise<string> => {
            posts += 1;
            return (await post(nodeCase)).text();
          };
          const codeOf = async (running: Promise<string>) => /ERR_\w+/.exec(await running)?.[0];
          const answer = await untilSent(ending, run, codeOf);
          assert.deepEqual(JSON.parse(answer), { code }, node.type);
          const ends = await endsOf(nodeCase, posts);
          assert.equal(ends.length, posts, "ended once");
          assert.match(ends.at(-1) ?? "", new RegExp(` ${code ?? "well"} ${outcome}$`));
          await untilArrived(ending, peer, node.path);
          const requests = node.asksMore === true ? peer.requestsTo(node.path) : peer.requests;
          assert.ok(requests >= fewest && requests <= most, `${requests} requests`);
          if (node.savesFile === true) {
            const files = await lookInto(folder, peer.content());
            assert.deepEqual(files, { whole: code === null ? 1 : 0, partial: 0 });
          }
        }),
      );
      await isWell();
    });
  }

  for (const name of strictDiskRows) {
    it(name, async () => {
      const { code = null, filename = "video.mp4" } = disk[name] ?? assert.fail(name);
      for (const nodeCase of casesOf(name)) {
        const answer = await post(nodeCase, { file: filename });
        assert.deepEqual(await answer.json(), { code });
        assert.equal((await endsOf(nodeCase)).length, 1);
      }
      await isWell();
    });
  }

  it("deployed anew while commands run and wait, and downloads are halfway", async () => {
    const all = [...casesOf("silent"), ...casesOf("halfway")];
    const gone = new AbortController();
    await Promise.all(all.map(({ peer }) => peer.arm()));
    // Two of each: of two commands the second waits.
    const posts = [...all, ...all].map((nodeCase) => post(nodeCase, {}, gone.signal).catch(() => undefined));
    const isUnderWay = (nodeCase: NodeCase): boolean =>
      nodeCase.peer.requests > 0 && linesOf(nodeCase, "TAKEN").length === 2;
    while (!all.every(isUnderWay)) {
      await isWell();
    }
    await nodeRed.deploy(flows);
    gone.abort();
    await Promise.all(posts);
    for (const nodeCase of all) {
      const ends = linesOf(nodeCase, "ENDED");
      assert.equal(new Set(ends.map((end) => end.split(" ")[0])).size, ends.length, "none ended twice");
      assert.ok(ends.length === 2 && ends.every((end) => end.includes(" ERR_CANCELLED ")), ends.join("; "));
      assert.deepEqual(await lookInto(nodeCase.folder, nodeCase.peer.content()), { whole: 0, partial: 0 });
    }
    await isWell();
  });
});
