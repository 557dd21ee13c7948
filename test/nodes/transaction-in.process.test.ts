import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { statusTexts as texts } from "../../src/runtime/status/node-status.ts";
import { type NodeRed, nodeRedMajor, startNodeRed } from "../support/node-red.ts";

const secret = "s3cret-of-the-dock";
const path = "dimensioner/transaction";
const records = 2_000;
const inFlight = 8;
/** The first answers of a process that has just started take longer: they are checked, but not timed. */
const warmUp = 400;

interface Answer {
  readonly status: number;
  readonly ms: number;
  readonly body: string;
}

/** One flow: what comes in is counted by id, beside work that keeps the runtime busy; a page tells the counts. */
function flow(secretIn: "header" | "path" = "header"): object[] {
  const place = { z: "tab", x: 100, y: 100 };
  const count = `const seen = global.get("seen") || {};
    seen[msg.transactionId] = (seen[msg.transactionId] || 0) + 1;
    global.set("seen", seen);`;
  const work = "const until = Date.now() + 2; while (Date.now() < until) { Math.sqrt(until); } return msg;";
  const tell = `const seen = Object.values(global.get("seen") || {});
    msg.payload = { ids: seen.length, most: Math.max(0, ...seen) };
    return msg;`;
  return [
    { id: "tab", type: "tab", label: "test" },
    {
      ...place,
      id: "in",
      type: "dimensioner-transaction-in",
      path,
      secretIn,
      queueLimit: 5000,
      wires: [["count"]],
    },
    { ...place, id: "count", type: "function", func: count, outputs: 0, wires: [] },
    { ...place, id: "tick", type: "inject", repeat: "0.01", once: false, props: [], wires: [["work"]] },
    { ...place, id: "work", type: "function", func: work, outputs: 1, wires: [[]] },
    { ...place, id: "ask", type: "http in", url: "/counts", method: "get", wires: [["tell"]] },
    { ...place, id: "tell", type: "function", func: tell, outputs: 1, wires: [["say"]] },
    { ...place, id: "say", type: "http response", wires: [] },
  ];
}

describe(`dimensioner-transaction-in in a real Node-RED ${nodeRedMajor}`, function () {
  let nodeRed: NodeRed;
  let userDir: string;
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });

  /** The flows lie in the user folder already: where there is a login, none could be sent. */
  const start = async (
    settings: Record<string, unknown> = {},
    secretIn: "header" | "path" = "header",
  ): Promise<void> => {
    userDir = await mkdtemp(join(tmpdir(), "transaction-in-"));
    await writeFile(join(userDir, "flows.json"), JSON.stringify(flow(secretIn)));
    await writeFile(join(userDir, "flows_cred.json"), JSON.stringify({ in: { secret } }));
    nodeRed = await startNodeRed({ major: nodeRedMajor, userDir, settings });
  };
  const post = (
    record: object,
    { at = `/${path}`, headers = {} as Record<string, string>, body = JSON.stringify(record) } = {},
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const since = performance.now();
      const { hostname, port } = new URL(nodeRed.url);
      const given = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
      const call = request(
        { hostname, port, path: at, method: "POST", agent, headers: { ...given, ...headers } },
        (response: IncomingMessage) => {
          const ms = performance.now() - since;
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.on("end", () => resolve({ status: response.statusCode ?? 0, ms, body: text }));
        },
      );
      call.on("error", (error) => {
        // The server has ended an idle connection at the moment when this request began on it.
        if (call.reusedSocket && "code" in error && ["ECONNRESET", "EPIPE"].includes(String(error.code))) {
          resolve(post(record, { at, headers, body }));
          return;
        }
        reject(error);
      });
      call.end(body);
    });
  const shown = { "x-webhook-secret": secret };

  afterEach(async () => {
    await nodeRed.stop();
    await rm(userDir, { recursive: true, force: true });
  });
  after(() => agent.destroy());

  it(`takes ${records} records in a burst, doubled and out of order, each once, beside a busy flow`, async function () {
    const test = this.test ?? assert.fail();
    await start();
    const timesMs = (await burst()).slice(warmUp).toSorted((one, other) => one - other);
    const counts = await untilCounted(records);
    assert.deepEqual([counts.ids, counts.most], [records, 1]);
    const at = (share: number): string => (timesMs[Math.floor(timesMs.length * share)] ?? 0).toFixed(1);
    // Said beside the test, and no part of its verdict: a busy computer stops both sides for longer than any answer takes.
    test.title += ` (p50 ${at(0.5)} ms, p99 ${at(0.99)} ms)`;
    assert.ok(!nodeRed.logs.join("\n").includes(secret));
  });

  it("gives each refusal its status, a plain sentence and nothing else", async () => {
    await start();
    const large = { body: JSON.stringify({ id: 1, errorCode: 0, note: "x".repeat(10_000_000) }) };
    const cases: [string, Promise<Answer>, number][] = [
      ["no secret", post({ id: 1 }), 401],
      ["a wrong secret", post({ id: 1 }, { headers: { "x-webhook-secret": `${secret}x` } }), 401],
      ["10 MB", post({}, { ...large, headers: shown }), 413],
      ["10 MB without the secret", post({}, large), 401],
      ["rubbish", post({}, { body: "<html>", headers: shown }), 400],
      ["no JSON", post({}, { headers: { ...shown, "content-type": "text/plain" } }), 415],
      ["another path", post({ id: 1 }, { at: `/${path}/more`, headers: shown }), 404],
    ];
    for (const [what, answer, status] of cases) {
      const { status: given, body } = await answer;
      assert.equal(given, status, what);
      assert.ok(status === 404 || /^[A-Z][^<>{}]+\.\n$/.test(body), body);
      assert.ok(!body.includes(secret), what);
    }
    assert.equal((await nodeRed.adminFetch(`/${path}`)).status, 405);
    assert.equal((await post({ id: 1, errorCode: 0 }, { headers: shown })).status, 204);
    // As numbers, these two would be one.
    for (const id of ["9007199254740992", "9007199254740993"]) {
      assert.equal((await post({}, { body: `{"id":${id},"errorCode":0}`, headers: shown })).status, 204);
    }
    await untilCounted(3);
    assert.ok(!nodeRed.logs.join("\n").includes(secret));
    for (const said of [
      "rejected because its secret is wrong. Enter the same secret",
      "[warn] [dimensioner-transaction-in:in] rejected: not a record (it",
      "rejected: not a record (its method is GET instead of POST)",
    ]) {
      assert.equal(nodeRed.logs.filter((line) => line.includes(said)).length, 1, said);
    }
  });

  it("stands behind the logins of a site, and below its root", async () => {
    // The old way to write a password, as an MD5 sum: it needs no library here.
    const pass = createHash("md5").update("correct horse").digest("hex");
    const users = [{ username: "admin", password: "$2b$08$none", permissions: "*" }];
    const settings = {
      httpNodeRoot: "/nodes",
      httpAdminRoot: "/admin",
      httpNodeAuth: { user: "cloud", pass },
      adminAuth: { type: "credentials", users },
    };
    await start(settings, "path");
    const at = `/nodes/${path}/${secret}`;
    const login = { authorization: `Basic ${Buffer.from("cloud:correct horse").toString("base64")}` };
    assert.equal((await post({ id: 1, errorCode: 0 }, { at })).status, 401);
    const wrong = { authorization: `Basic ${Buffer.from("cloud:wrong").toString("base64")}` };
    assert.equal((await post({ id: 1, errorCode: 0 }, { at, headers: wrong })).status, 401);
    assert.equal((await post({ id: 1, errorCode: 0 }, { at: `${at}x`, headers: login })).status, 401);
    assert.equal(
      (await post({ id: 1, errorCode: 0 }, { at: `/${path}/${secret}`, headers: login })).status,
      404,
    );
    assert.equal((await post({ id: 1, errorCode: 0 }, { at, headers: login })).status, 204);
    const { origin } = new URL(nodeRed.url);
    const counts = await fetch(`${origin}/nodes/counts`, { headers: login });
    assert.equal(((await counts.json()) as { ids: number }).ids, 1);
    assert.equal((await fetch(`${origin}/admin/flows`)).status, 401, "the editor keeps its own login");
  });

  it("says that it cannot serve where the site has switched off what flows serve", async () => {
    await start({ httpNodeRoot: false });
    assert.equal((await post({ id: 1, errorCode: 0 }, { headers: shown })).status, 404);
    assert.ok(
      nodeRed.logs.some((line) => line.includes(texts.noWebServer)),
      nodeRed.logs.join("\n"),
    );
  });

  it("says in the log, too, that another node has its path", async () => {
    await start();
    const warned = nodeRed.nextLine(new RegExp(texts.pathTaken));
    const second = {
      id: "second",
      z: "tab",
      x: 100,
      y: 200,
      type: "dimensioner-transaction-in",
      path,
      wires: [],
    };
    await nodeRed.deploy([...flow(), { ...second, secretIn: "none" }]);
    assert.match(await warned, /\[warn\] \[dimensioner-transaction-in:second\]/);
  });

  /** Posts every record twice, in no order; returns how long each answer took. */
  async function burst(): Promise<number[]> {
    const posts = shuffle(Array.from({ length: records * 2 }, (_, index) => index % records));
    const timesMs: number[] = [];
    const next = async (): Promise<void> => {
      for (let id = posts.pop(); id !== undefined; id = posts.pop()) {
        const ids = id % 2 === 0 ? { id } : { id: `guid-${id}`, legacyId: id };
        const record = { ...ids, errorCode: 0, note: "x".repeat(800) };
        const { status, ms } = await post(record, { headers: shown });
        assert.equal(status, 204);
        timesMs.push(ms);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, next));
    return timesMs;
  }

  async function untilCounted(ids: number): Promise<{ ids: number; most: number }> {
    for (;;) {
      const counts = (await (await nodeRed.adminFetch("/counts")).json()) as { ids: number; most: number };
      if (counts.ids >= ids) {
        return counts;
      }
    }
  }
});

function shuffle(ids: number[]): number[] {
  let state = 1;
  for (let last = ids.length - 1; last > 0; last--) {
    state = (state * 48271) % 2147483647;
    const other = state % (last + 1);
    [ids[last], ids[other]] = [ids[other] as number, ids[last] as number];
  }
  return ids;
}
