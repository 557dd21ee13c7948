import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { controls, hostileIds, prototypeNames, showyTexts } from "../support/hostile.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { closedPort, type RawServer } from "../support/servers.ts";
import { echoResponses, startEchoServer } from "./echo-server.ts";
import { SecretFinder } from "./secret-finder.ts";
import { storeNode } from "../support/store-node.ts";

/** Of characters that every encoding writes in its own way. */
const token = `Tk-7"f/+%&=\\<e>'9z~Q8wX`;
const secret = `Wh-3"k/+%&=<m>'5y~R2vB`;
const finder = new SecretFinder([token, secret]);

/** Logs an error with everything in it, and which message has ended. */
const tell = `
  node.warn(util.inspect(msg, { depth: Infinity, showHidden: true, maxStringLength: null }));
  node.warn("END " + msg.topic);`;
const crash = `
  const inside = util.inspect(msg, { depth: Infinity, showHidden: true });
  // Nobody handles it, which ends Node-RED; what a timer throws, the function node would catch.
  void Promise.reject(Object.assign(new Error("crashed with " + inside), { msg, cause: msg.error }));`;

describe(`the token and the webhook's secret, in Node-RED ${nodeRedMajor}`, () => {
  let simulator: Simulator;
  let echo: RawServer;
  let nodeRed: NodeRed;
  let place: string;
  let flows: object[];

  before(async () => {
    place = await realpath(await mkdtemp(join(tmpdir(), "token-process-")));
    const [userDir, archive] = [join(place, "user"), join(place, "archive")];
    await mkdir(userDir);
    await mkdir(archive);
    simulator = await startSimulator({ token, cloudDevices: 2 });
    echo = await startEchoServer();
    simulator.cloud.addMedia("905865", { contentType: "video/mp4", generateBytes: 50_000 });
    const nobody = `http://127.0.0.1:${closedPort}`;
    const clouds = { good: simulator.cloud.origin, echo: echo.origin, nobody, wrong: "ftp://nowhere" };
    const code = (id: string, func: string, x: number): object => ({
      id,
      z: "tab",
      type: "function",
      func,
      outputs: 0,
      x,
      y: 20,
      wires: [],
    });
    const at = { z: "tab", x: 100, y: 100 };
    const actions = (cloud: string): object[] =>
      [
        { type: "remote-trigger", action: "measure", deviceReference: simulator.options.deviceCode },
        { type: "media-list" },
        { type: "device-list" },
        {
          type: "archive",
          store: "store",
          wait: 0,
          settle: 0,
          giveUp: 0.000_01,
          layout: `${cloud}/{transactionId}`,
        },
      ].map(({ type, ...more }) => ({
        ...at,
        ...more,
        cloud,
        type: `dimensioner-${type}`,
        id: `${cloud}-${type}`,
        wires: [["tell"]],
      }));
    const all = Object.keys(clouds).flatMap(actions);
    const goes = all.map((node) => String(Reflect.get(node, "id")));
    flows = [
      { id: "tab", type: "tab", label: "Dock" },
      ...Object.entries(clouds).map(([id, baseUrl]) => ({
        id,
        type: "dimensioner-cloud",
        name: `To ${id}`,
        baseUrl,
        // Only where nobody answers, which ends sooner.
        timeout: id === "good" ? 60 : 1,
        checkInterval: 1,
        credentials: { token },
      })),
      storeNode(archive, "store"),
      ...all,
      ...goes.map((id) => ({
        ...at,
        id: `go-${id}`,
        type: "inject",
        topic: id,
        props: [
          { p: "topic", vt: "str" },
          { p: "transactionId", v: "905865", vt: "str" },
          { p: "transactionReference", v: "ORDER-1", vt: "str" },
        ],
        wires: [[id]],
      })),
      ...["header", "path"].map((secretIn) => ({
        ...at,
        id: `hook-${secretIn}`,
        type: "dimensioner-transaction-in",
        path: `in/${secretIn}`,
        secretIn,
        credentials: { secret },
        wires: [["tell", "debug"]],
      })),
      { ...at, id: "catch", type: "catch", scope: null, wires: [["tell", "debug"]] },
      { ...at, id: "status", type: "status", scope: null, wires: [["debug"]] },
      { ...at, id: "debug", type: "debug", active: true, console: true, complete: "true", wires: [] },
      code("tell", tell, 400),
      code("crash", crash, 500),
      { ...at, id: "go-crash", type: "inject", topic: "crash", wires: [["crash"]] },
    ];
    nodeRed = await startNodeRed({
      major: nodeRedMajor,
      userDir,
      flows,
      settings: {
        logging: { console: { level: "trace", metrics: true, audit: true } },
      },
    });
  });
  after(async () => {
    await nodeRed?.stop();
    await echo?.close();
    await simulator?.close();
    await rm(place, { recursive: true, force: true });
  });

  const hidden = (text: string, where: string): void => {
    const spelling = finder.find(text);
    assert.equal(spelling, undefined, `${where}: ${text.slice(0, 2000)}`);
  };
  const fire = async (id: string): Promise<void> => {
    const ended = nodeRed.nextLine(new RegExp(`END ${id}$`));
    assert.equal((await nodeRed.adminFetch(`/inject/go-${id}`, { method: "POST" })).status, 200);
    await ended;
  };

  it("are in no line of a log at trace level, after all that can go wrong", async () => {
    for (const id of ["good", "nobody", "wrong"].flatMap((cloud) =>
      ["remote-trigger", "media-list", "device-list", "archive"].map((type) => `${cloud}-${type}`),
    )) {
      await fire(id);
    }
    for (let time = 0; time < echoResponses; time++) {
      await fire("echo-media-list");
      await fire("echo-archive");
    }
    const post = async (
      path: string,
      body: string,
      headers: Record<string, string> = {},
    ): Promise<number> => {
      const answer = await fetch(nodeRed.url + path, {
        method: "POST",
        // A connection that is kept may be ended by Node-RED, after 5 s, when the next request begins on it.
        headers: { "content-type": "application/json", connection: "close", ...headers },
        body,
      });
      hidden(`${await answer.text()} ${JSON.stringify([...answer.headers])}`, path);
      return answer.status;
    };
    const shown = { "x-webhook-secret": secret };
    const record = JSON.stringify({ id: 1, errorCode: 0 });
    assert.equal(await post("/in/header", record, shown), 204);
    assert.equal(await post(`/in/path/${encodeURIComponent(secret)}`, record), 204);
    assert.equal(await post(`/in/path/${encodeURIComponent(`${secret}x`)}`, record), 401);
    assert.equal(await post("/in/header", record, { "x-webhook-secret": `${secret}x` }), 401);
    for (const text of showyTexts) {
      assert.equal(await post("/in/header", text, shown), 400);
    }
    assert.equal(await post("/in/header", "x".repeat(5_000_000), shown), 413);
    hidden(nodeRed.logs.join("\n"), "log");
    for (const line of nodeRed.logs) {
      assert.doesNotMatch(stripVTControlCharacters(line), /^\[error\] forged/);
      assert.doesNotMatch(
        stripVTControlCharacters(line).replace(/[\t\r]/g, ""),
        controls,
        JSON.stringify(line),
      );
    }
  });

  it("are in no answer of the editor's server, and no id leads elsewhere in it", async () => {
    const paths = [
      "flows",
      "nodes",
      "settings",
      "diagnostics",
      "context/global",
      "icons",
      "locales/nodes?lng=en-US",
      ...["good", "echo"].map((id) => `credentials/dimensioner-cloud/${id}`),
      ...["good", "echo", "nobody", "wrong"].map((id) => `dimensioner-cloud/${id}/devices`),
      "credentials/dimensioner-transaction-in/hook-header",
      "dimensioner-fetch-image/good/preview",
    ];
    for (const path of paths) {
      const answer = await nodeRed.adminFetch(`/${path}`, { headers: { accept: "application/json" } });
      assert.ok(answer.status < 500, `${path}: ${answer.status}`);
      hidden(await answer.text(), path);
    }
    const exported = await (await nodeRed.adminFetch("/flows")).text();
    assert.ok(exported.includes("dimensioner-cloud"));
    const asked = { z: "", allowHttp: false, timeout: "1", tls: "", proxy: "", token: "__PWRD__" };
    const told = simulator.requests.length;
    for (const id of [...hostileIds, ...prototypeNames, "device", "hook-header"]) {
      const part = encodeURIComponent(id.toWellFormed());
      for (const path of [`dimensioner-cloud/${part}/devices`, `dimensioner-fetch-image/${part}/preview`]) {
        const answer = await nodeRed.adminFetch(`/${path}`);
        assert.ok(answer.status < 500, `${path}: ${answer.status}`);
        const text = await answer.text();
        hidden(text, path);
        assert.ok(!text.includes("registrationCode"), path);
      }
      const answer = await nodeRed.adminFetch("/dimensioner-cloud/test", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...asked, id, baseUrl: echo.origin }),
      });
      const said = await answer.text();
      assert.ok(said.includes("tokenAnew"), said);
      hidden(said, id);
    }
    const checks = simulator.requests.slice(told).filter(({ path }) => path !== "/api/deviceclients");
    assert.deepEqual(checks, []);
    assert.equal(simulator.newer.actions.measures, 1);
  });

  it("are in no file, save in one that is encrypted", async () => {
    const names = await readdir(place, { recursive: true, withFileTypes: true });
    const files = names.filter((one) => one.isFile() && !one.parentPath.includes("node_modules"));
    for (const name of ["flows.json", "flows_cred.json", "manifest.json", "store.sqlite"]) {
      assert.ok(
        files.some((file) => file.name === name),
        name,
      );
    }
    for (const file of files) {
      const path = join(file.parentPath, file.name);
      hidden(`${path} ${await readFile(path, "latin1")}`, path);
    }
    const kept: unknown = JSON.parse(await readFile(join(place, "user", "flows_cred.json"), "utf8"));
    assert.deepEqual(Object.keys(Object(kept)), ["$"]);
  });

  it("were sent to no other peer", () => {
    for (const surface of ["newer", "earlier"] as const) {
      hidden(JSON.stringify(simulator.requestsTo(surface)), surface);
    }
    hidden(
      JSON.stringify(
        echo.requests.map(({ headers, ...rest }) => ({ ...rest, ...headers, authorization: "" })),
      ),
      "echo",
    );
    hidden(JSON.stringify(simulator.requests.map(({ path, query }) => path + query)), "addresses");
  });

  it("are in nothing that Node-RED prints when it crashes", async () => {
    const ended = assert.rejects(nodeRed.nextLine(/^never printed$/), /Node-RED ended before/);
    await nodeRed.adminFetch("/inject/go-crash", { method: "POST" }).catch(() => undefined);
    await ended;
    assert.ok(nodeRed.logs.some((line) => /Uncaught Exception/i.test(line)));
    assert.ok(nodeRed.logs.some((line) => line.includes("crashed with")));
    hidden(nodeRed.logs.join("\n"), "crash");
  });
});
