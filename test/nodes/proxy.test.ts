import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow } from "../support/flow.ts";

const names = ["http_proxy", "https_proxy", "proxy", "no_proxy"].map((name) => `npm_config_${name}`);
const variables = [...names, "http_proxy", "https_proxy", "all_proxy", "no_proxy"].flatMap((name) => [
  name,
  name.toUpperCase(),
]);

/** Which way the cloud is reached; that the way itself holds is shown in test/http/proxies.test.ts. */
describe("the proxy of dimensioner-cloud", () => {
  let sim: Simulator;
  let proxy: Server;
  let proxyUrl: string;
  let asked: { host: string | undefined; login: string | undefined }[];
  const before = new Map<string, string | undefined>();

  beforeEach(async () => {
    sim = await startSimulator();
    sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: Buffer.from("x") });
    asked = [];
    proxy = createServer().on("connect", ({ url, headers }, socket) => {
      asked.push({ host: url, login: headers["proxy-authorization"] });
      const [host, port] = (url ?? "").split(":");
      const upstream = connect(Number(port), host, () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on("error", () => socket.destroy());
      socket.on("error", () => upstream.destroy());
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    for (const name of variables) {
      before.set(name, process.env[name]);
      delete process.env[name];
    }
  });

  afterEach(async () => {
    for (const [name, value] of before) {
      if (value === undefined) {
        delete process.env[name];
      } else {
        process.env[name] = value;
      }
    }
    proxy.closeAllConnections();
    proxy.close();
    await sim.close();
  });

  /** What the last error said. */
  let said = "";

  /** Lists media once, with these variables and, where it is given, this http proxy node. */
  const listWith = async (
    env: Record<string, string>,
    node?: { url: string; noproxy?: string[]; d?: boolean },
    login?: object,
  ): Promise<string | undefined> => {
    Object.assign(process.env, env);
    const nodes = node === undefined ? [] : [{ id: "proxy", type: "http proxy", noproxy: [], ...node }];
    const flow = await TestFlow.start(
      [
        ...nodes,
        {
          id: "cloud",
          type: "dimensioner-cloud",
          baseUrl: sim.cloud.origin,
          timeout: 60,
          proxy: node ? "proxy" : "",
        },
        { id: "node", z: "tab", type: "dimensioner-media-list", cloud: "cloud" },
      ],
      { cloud: { token: sim.cloud.token }, ...(login === undefined ? {} : { proxy: login }) },
    );
    try {
      const { error } = await flow.run("node", { transactionId: "1" });
      said = error?.message ?? "";
      return error?.code;
    } finally {
      await flow.stop();
    }
  };

  it("is none where nobody names one", async () => {
    assert.equal(await listWith({}), undefined);
    assert.deepEqual(asked, []);
  });

  for (const name of ["http_proxy", "HTTP_PROXY", "all_proxy", "npm_config_http_proxy", "npm_config_proxy"]) {
    it(`is the environment's ${name}`, async () => {
      assert.equal(await listWith({ [name]: proxyUrl }), undefined);
      assert.deepEqual(asked, [{ host: `127.0.0.1:${sim.cloud.port}`, login: undefined }]);
    });
  }

  it("is the first of several variables that is not empty, in the order of the http request node", async () => {
    const none = "http://127.0.0.1:1";
    for (const env of [
      { http_proxy: "", HTTP_PROXY: proxyUrl },
      { npm_config_http_proxy: proxyUrl, http_proxy: none },
      { http_proxy: proxyUrl, npm_config_proxy: none },
      { npm_config_proxy: proxyUrl, all_proxy: none },
      { http_proxy: proxyUrl, npm_config_no_proxy: "other.example", no_proxy: "*" },
    ]) {
      asked = [];
      variables.forEach((name) => delete process.env[name]);
      assert.equal(await listWith(env), undefined, JSON.stringify(env));
      assert.equal(asked.length, 1, JSON.stringify(env));
    }
    assert.equal(await listWith({ http_proxy: none, npm_config_no_proxy: "127.0.0.1" }), undefined);
  });

  it("may be written without its scheme", async () => {
    assert.equal(await listWith({ http_proxy: new URL(proxyUrl).host }), undefined);
    assert.equal(asked.length, 1);
  });

  it("is left out for the hosts that no_proxy names, and for no others", async () => {
    for (const [rule, isLeftOut] of [
      ["127.0.0.1", true],
      ["other.example, 127.0.0.1", true],
      [`127.0.0.1:${sim.cloud.port}`, true],
      [".0.0.1", true],
      ["*.0.1", true],
      ["*", true],
      ["127.0.0.1:1", false],
      ["0.0.1", false],
      ["127.0.0.10", false],
    ] as const) {
      asked = [];
      assert.equal(await listWith({ http_proxy: proxyUrl, no_proxy: rule }), undefined, rule);
      assert.equal(asked.length, isLeftOut ? 0 : 1, rule);
    }
  });

  it("does not matter where no_proxy names the host, of whichever kind it is", async () => {
    assert.equal(await listWith({ ALL_PROXY: "socks5://127.0.0.1:1", no_proxy: "127.0.0.1" }), undefined);
  });

  it("is the http proxy node's before the environment's, with its login and its exceptions", async () => {
    const env = { http_proxy: "http://127.0.0.1:1" };
    assert.equal(await listWith(env, { url: proxyUrl }, { username: "user", password: "p@ss" }), undefined);
    assert.equal(asked[0]?.login, `Basic ${Buffer.from("user:p@ss").toString("base64")}`);
    assert.equal(await listWith(env, { url: proxyUrl, noproxy: ["127.0.0.1"] }), undefined);
    assert.equal(asked.length, 1);
  });

  it("has to be one that can be used", async () => {
    for (const name of ["http_proxy", "ALL_PROXY"]) {
      variables.forEach((one) => delete process.env[one]);
      assert.equal(await listWith({ [name]: "socks5://127.0.0.1:1" }), "ERR_CONFIG");
      assert.match(said, new RegExp(`the environment variable ${name} names a proxy`));
    }
    assert.equal(await listWith({}, { url: "not an address" }), "ERR_CONFIG");
    assert.match(said, /the proxy's address must start with/);
    const unset = "${DIMENSIONER_IS_NOT_SET}";
    assert.equal(await listWith({}, { url: unset }), "ERR_CONFIG");
    assert.match(said, /the environment variable DIMENSIONER_IS_NOT_SET is not set/);
    assert.equal(await listWith({}, { url: proxyUrl }, { username: "user", password: unset }), "ERR_CONFIG");
    assert.match(said, /the environment variable DIMENSIONER_IS_NOT_SET is not set/);
    assert.equal(await listWith({}, { url: proxyUrl, d: true }), "ERR_CONFIG");
    assert.match(said, /the selected http proxy is disabled/);
    assert.deepEqual([sim.requests, asked], [[], []]);
  });

  it("is said to be out of reach, and nothing was sent", async () => {
    assert.equal(await listWith({ http_proxy: "http://127.0.0.1:1" }), "ERR_UNREACHABLE");
    assert.deepEqual(sim.requests, []);
  });
});
