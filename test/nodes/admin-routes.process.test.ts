import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { phrase } from "../../src/errors/interpolation.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { type RawRequest, type Reply, closedPort, reply, startServer } from "../support/servers.ts";

const token = "t0ken-of-the-dock";

interface Answer {
  readonly state?: string;
  readonly from?: string;
  readonly key?: string;
  readonly values?: Record<string, unknown>;
  readonly facts?: readonly string[];
  readonly devices?: readonly Record<string, unknown>[];
  /** What a test has found out, line by line. */
  readonly lines?: readonly Answer[];
}

describe(`the admin routes, in a real Node-RED ${nodeRedMajor}`, () => {
  let simulator: Simulator;
  let nodeRed: NodeRed;

  before(async () => {
    simulator = await startSimulator({ token, cloudDevices: 2, unknownTransaction: "empty-list" });
    const { host } = new URL(simulator.newer.origin);
    nodeRed = await startNodeRed({
      major: nodeRedMajor,
      env: { DOCK: host, CLOUD_TOKEN: token },
      flows: [
        {
          id: "tab",
          type: "tab",
          label: "Dock",
          env: [{ name: "EARLIER", value: simulator.earlier.origin, type: "str" }],
        },
        { id: "device", type: "dimensioner-device", address: host },
        { id: "in-tab", z: "tab", type: "dimensioner-device", address: host },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: simulator.cloud.origin, credentials: { token } },
        { id: "broken", type: "dimensioner-cloud", baseUrl: "nowhere", credentials: { token } },
      ],
    });
  });
  after(async () => {
    await nodeRed?.stop();
    await simulator?.close();
  });
  beforeEach(() => simulator.reset());
  afterEach(() => {
    const measured = simulator.newer.actions.measures + simulator.earlier.actions.measures;
    assert.equal(measured, 0, "no test measures");
    assert.ok(!nodeRed.logs.join("\n").includes(token));
  });

  const post = (
    type: "device" | "cloud",
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    nodeRed.adminFetch(`/dimensioner-${type}/test`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const read = async (response: Response): Promise<Answer> => {
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("cache-control"), "no-store");
    const text = await response.text();
    assert.ok(!text.includes(token), text);
    return JSON.parse(text) as Answer;
  };
  const onlyLine = ({ lines = [] }: Answer): Answer => {
    const [first, ...more] = lines;
    assert.ok(first !== undefined && more.length === 0);
    return first;
  };
  const testDevice = async (given: object): Promise<Answer> => {
    const values = { id: "new", z: "", address: "", generation: "newer", timeout: "60" };
    return onlyLine(await read(await post("device", { ...values, ...given })));
  };
  const testCloud = async (given: object): Promise<Answer> => {
    const values = {
      baseUrl: simulator.cloud.origin,
      allowHttp: false,
      timeout: "",
      tls: "",
      proxy: "",
      token,
    };
    return onlyLine(await read(await post("cloud", { id: "cloud", z: "", ...values, ...given })));
  };
  const said = ({ state, key }: Answer): string => `${state} ${key}`;
  const paths = (): string[] => simulator.requests.map(({ method, path }) => `${method} ${path}`);

  it("a device of the chosen generation answers its ping, and gets no other request", async () => {
    const { origin } = simulator.newer;
    const answer = await testDevice({ address: origin });
    assert.equal(said(answer), "good isNewer");
    assert.equal(answer.values?.["host"], new URL(origin).host);
    const earlier = await testDevice({ address: simulator.earlier.origin, generation: "earlier" });
    assert.equal(said(earlier), "good isEarlier");
    assert.deepEqual(
      paths().map((path) => path.replace(/[0-9a-f-]{36}$/, "<word>")),
      ["GET /api/v1/ping/<word>", "GET /api/ping/<word>"],
    );
  });

  it("tells another generation, and a device with its local API off", async () => {
    const { newer, earlier } = simulator;
    assert.equal(said(await testDevice({ address: earlier.origin })), "bad butEarlier");
    assert.equal(said(await testDevice({ address: newer.origin, generation: "earlier" })), "bad butNewer");
    newer.setLocalApi(false);
    assert.equal(said(await testDevice({ address: newer.origin })), "bad noDevice");
  });

  it("takes no other server for a device or a cloud, whatever it answers", async () => {
    let body = "";
    let headers = "Content-Type: application/json";
    const stranger = await startServer((_request, socket) =>
      socket.write(
        `HTTP/1.1 200 OK\r\n${headers}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    );
    const expect = async (device: string, cloud: string): Promise<void> => {
      for (const generation of ["newer", "earlier"]) {
        assert.equal(said(await testDevice({ address: stranger.origin, generation })), device, body);
      }
      assert.equal(said(await testCloud({ id: "new", baseUrl: stranger.origin })), cloud, body);
    };
    try {
      for (body of ['{"hello":"world"}', '{"msg":"ping"}', '{"msg":null}', "[1]", "null", "pong", ""]) {
        await expect("bad noDevice", "bad noCloud");
      }
      headers = "Content-Type: text/html";
      body = "<!DOCTYPE html><title>Printer</title>";
      await expect("bad responseHtml", "bad responseHtml");
    } finally {
      await stranger.close();
    }
  });

  it("takes a device and a cloud by what they answer, not by its headers, and says what else answers", async () => {
    let answer: (request: RawRequest) => Reply = () => ({});
    const peer = await startServer((request, socket) => reply(socket, answer(request)));
    const word = ({ target }: RawRequest): string => decodeURIComponent(target.split("/").at(-1) ?? "");
    const listed = JSON.stringify([{ id: "1", name: "Dock" }]);
    const isDevice = ({ target }: RawRequest): boolean => target.includes("/ping/");
    try {
      for (const [headers, encode] of [
        [{ "content-type": "text/html" }, (text: string) => Buffer.from(text)],
        [{ "content-type": "image/jpeg" }, (text: string) => Buffer.from(`\uFEFF${text}`)],
        [{ "content-encoding": "gzip" }, (text: string) => gzipSync(text)],
        [{ "content-encoding": "utf-8" }, (text: string) => Buffer.from(text)],
        [
          { "content-type": "application/json; charset=utf-16" },
          (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le"),
        ],
        [
          { "content-type": "application/json; charset=iso-8859-1" },
          (text: string) => Buffer.from(text, "latin1"),
        ],
      ] as const) {
        answer = (request) => ({
          headers,
          body: encode(isDevice(request) ? JSON.stringify({ msg: word(request) }) : listed),
        });
        const what = JSON.stringify(headers);
        assert.equal(said(await testDevice({ address: peer.origin })), "good isNewer", what);
        assert.equal(said(await testCloud({ id: "new", baseUrl: peer.origin })), "good cloud", what);
      }
      answer = () => ({ body: '{"msg":"a' });
      const faulty = await testDevice({ address: peer.origin });
      assert.equal(said(faulty), "bad responseFaulty");
      assert.deepEqual(faulty.values?.["problem"], phrase("jsonCut", { count: 9 }));
      answer = () => ({ body: "<?xml version='1.0'?><Error><Message>No</Message></Error>" });
      assert.equal(said(await testDevice({ address: peer.origin })), "bad responseXml");
      assert.equal(said(await testCloud({ id: "new", baseUrl: peer.origin })), "bad responseXml");
    } finally {
      await peer.close();
    }
  });

  it("says how far the clock of a device or a cloud is from this computer's", async () => {
    let aheadMs = 0;
    const peer = await startServer((request, socket) => {
      const word = decodeURIComponent(request.target.split("/").at(-1) ?? "");
      reply(socket, {
        headers: { date: new Date(Date.now() + aheadMs).toUTCString() },
        body: request.target.includes("/ping/") ? JSON.stringify({ msg: word }) : "[]",
      });
    });
    const linesOf = async (type: "cloud" | "device"): Promise<readonly string[]> => {
      const { lines = [] } = await read(
        await (type === "device"
          ? post(type, { id: "new", z: "", address: peer.origin, generation: "newer", timeout: "60" })
          : post(type, {
              id: "new",
              z: "",
              baseUrl: peer.origin,
              allowHttp: false,
              timeout: "",
              tls: "",
              proxy: "",
              token,
            })),
      );
      return lines.map((one) =>
        [said(one), one.values?.["time"]].filter((part) => typeof part === "string").join(" "),
      );
    };
    try {
      for (const [ms, clock] of [
        [0, []],
        [-30_000, []],
        [3 * 60_000, ["warning clockAhead 3 min"]],
        [-65 * 60_000, ["warning clockBehind 1 h 5 min"]],
        [366 * 86_400_000, ["warning clockAhead 366 d"]],
      ] as const) {
        aheadMs = ms;
        assert.deepEqual(await linesOf("device"), ["good isNewer", ...clock]);
        assert.deepEqual(await linesOf("cloud"), ["good cloud", ...clock]);
      }
    } finally {
      await peer.close();
    }
  });

  it("says why there is no connection, within the timeout", async () => {
    const silent = await startServer(() => undefined);
    try {
      let answer: string;
      do {
        answer = said(await testDevice({ address: silent.origin, timeout: "0.5" }));
        // On a busy computer the time can be over before there is a connection.
      } while (answer === "bad unreachableSilent");
      assert.equal(answer, "bad timeout");
      await silent.allClosed();
    } finally {
      await silent.close();
    }
    for (const [generation, key] of [
      ["newer", "unreachableRefused"],
      ["gateway", "unreachableRefused_cloud"],
    ]) {
      const address = `127.0.0.1:${closedPort}`;
      const answer = said(await testDevice({ address, generation }));
      assert.ok([`bad ${key}`, "bad unreachableContainer"].includes(answer), answer);
    }
  });

  it("says that a device speaks broken HTTP, and not that there is none", async () => {
    const broken = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n";
    const server = await startServer((_request, socket) => socket.end(broken));
    try {
      assert.equal(said(await testDevice({ address: server.origin })), "bad responseBroken");
    } finally {
      await server.close();
    }
  });

  it("opens a connection to a gateway and sends nothing", async () => {
    let accepted: () => void;
    const connected = new Promise<void>((resolve) => (accepted = resolve));
    const gateway = await startServer(() => undefined, { onConnection: () => accepted() });
    try {
      const answer = await testDevice({ address: gateway.origin, generation: "gateway" });
      assert.equal(said(answer), "warning gateway");
      await connected;
      await gateway.allClosed();
      assert.deepEqual([gateway.connections, gateway.requests.length], [1, 0]);
    } finally {
      await gateway.close();
    }
  });

  it("takes environment variables as the node's flow sees them", async () => {
    assert.equal(said(await testDevice({ address: "${DOCK}" })), "good isNewer");
    const inTab = { z: "tab", address: "${EARLIER}", generation: "earlier" };
    assert.equal(said(await testDevice({ id: "in-tab", ...inTab })), "good isEarlier");
    assert.equal(said(await testDevice({ id: "not-deployed-yet", ...inTab })), "good isEarlier");
    const { key, values } = await testDevice({ address: "${EARLIER}" });
    assert.equal(key, "configInvalid");
    assert.deepEqual(values?.["problem"], phrase("environmentUnset", { name: "EARLIER" }));
  });

  it("presses at the same time are harmless", async () => {
    const presses = Array.from({ length: 20 }, () => testDevice({ address: simulator.newer.origin }));
    for (const answer of await Promise.all(presses)) {
      assert.equal(said(answer), "good isNewer");
    }
    assert.equal(paths().length, presses.length);
  });

  it("ends its request when the browser has left", async () => {
    const silent = await startServer(() => undefined);
    try {
      const leaving = new AbortController();
      const arrived = silent.next();
      const asked = nodeRed.adminFetch("/dimensioner-device/test", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ id: "", z: "", address: silent.origin, generation: "newer", timeout: 10 }),
        signal: leaving.signal,
      });
      await arrived;
      leaving.abort();
      await assert.rejects(asked);
      await silent.allClosed();
    } finally {
      await silent.close();
    }
  });

  it("a cloud that takes the token names its devices", async () => {
    const answer = await testCloud({ id: "new" });
    assert.equal(said(answer), "good cloud");
    assert.equal(answer.values?.["count"], 3);
    assert.deepEqual(
      answer.facts,
      simulator.cloud.devices.map(({ name }) => name),
    );
    assert.equal(said(await testCloud({ token: "wrong" })), "bad unauthorized");
    assert.deepEqual(new Set(paths()), new Set(["GET /api/deviceclients"]));
  });

  it("a cloud without a list of devices is asked for a list of media", async () => {
    simulator.faults.add({
      surface: "cloud",
      path: "/api/deviceclients",
      times: 9,
      fault: { kind: "status", status: 404 },
    });
    assert.equal(said(await testCloud({})), "good cloudMedia");
    simulator.faults.add({
      surface: "cloud",
      path: "/api/transactionmedia",
      times: 9,
      fault: { kind: "status", status: 404 },
    });
    assert.equal(said(await testCloud({})), "warning cloudUntested");
  });

  it("the stored token goes to the deployed address alone, by the deployed way", async () => {
    assert.equal(said(await testCloud({ token: "__PWRD__" })), "good cloud");
    const stranger = await startServer(() => undefined);
    try {
      const elsewhere = { baseUrl: stranger.origin };
      for (const given of ["__PWRD__", "${CLOUD_TOKEN}", "$(CLOUD_TOKEN)"]) {
        assert.equal(said(await testCloud({ ...elsewhere, token: given })), "bad tokenAnew");
        assert.equal(said(await testCloud({ ...elsewhere, token: given, id: "broken" })), "bad tokenAnew");
        assert.equal(said(await testCloud({ token: given, id: "new" })), "bad tokenAnew");
        assert.equal(said(await testCloud({ token: given, id: "device" })), "bad tokenAnew");
        assert.equal(said(await testCloud({ token: given, proxy: "other" })), "bad tokenAnew");
        assert.equal(said(await testCloud({ token: given, tls: "other" })), "bad tokenAnew");
      }
      assert.equal(stranger.connections, 0);
    } finally {
      await stranger.close();
    }
    assert.equal(said(await testCloud({ token: "${CLOUD_TOKEN}" })), "good cloud");
    assert.equal(said(await testCloud({ token: "${NOT_SET}" })), "bad configInvalid");
  });

  it("lists a deployed cloud's devices to choose from", async () => {
    const list = async (id: string): Promise<Answer> =>
      read(await nodeRed.adminFetch(`/dimensioner-cloud/${id}/devices`));
    const { devices = [] } = await list("cloud");
    assert.deepEqual(
      devices.map(({ name, registrationCode }) => [name, registrationCode]),
      simulator.cloud.devices.map(({ name, code }) => [name, code]),
    );
    assert.match(String(devices[0]?.["lastHeartbeatUtc"]), /^\d{4}-/);
    assert.equal(said(await list("new")), "bad notDeployed");
    assert.equal(said(await list("device")), "bad notDeployed");
    assert.equal(said(await list("broken")), "bad configInvalid");
  });

  it("takes nothing but the fields of a dialog, as JSON", async () => {
    const whole = { id: "", z: "", address: simulator.newer.origin, generation: "newer", timeout: 5 };
    const refused: [object, Record<string, string>][] = [
      [{}, {}],
      [[], {}],
      [{ ...whole, address: { $ne: 1 } }, {}],
      [{ ...whole, address: "x".repeat(20_000) }, {}],
      // What a form on any web page could send.
      [whole, { "Content-Type": "text/plain" }],
    ];
    for (const [body, headers] of refused) {
      assert.equal((await post("device", body, headers)).status, 400);
    }
    const form = new URLSearchParams({ ...whole, timeout: "5" });
    const sent = await nodeRed.adminFetch("/dimensioner-device/test", { method: "POST", body: form });
    assert.equal(sent.status, 400);
    assert.equal(simulator.requests.length, 0);
    assert.equal(
      said(await testDevice({ address: simulator.newer.origin, generation: "oldest" })),
      "bad configInvalid",
    );
  });

  it("need a login where there is one, and the right permission", async () => {
    const userDir = await mkdtemp(join(tmpdir(), "admin-routes-"));
    const users = [{ username: "admin", password: "$2b$08$none", permissions: "*" }];
    const start = async (adminAuth: object): Promise<NodeRed> =>
      startNodeRed({ major: nodeRedMajor, userDir, settings: { adminAuth } });
    const statuses = async ({ adminFetch }: NodeRed): Promise<number[]> => {
      const calls = [
        adminFetch("/dimensioner-device/test", { method: "POST" }),
        adminFetch("/dimensioner-cloud/test", { method: "POST" }),
        adminFetch("/dimensioner-store/test", { method: "POST" }),
        adminFetch("/dimensioner-store/file", { method: "POST" }),
        adminFetch("/dimensioner-store/login", { method: "POST" }),
        adminFetch("/dimensioner-cloud/cloud/devices"),
        adminFetch("/dimensioner-fetch-image/image/preview"),
        adminFetch("/dimensioner-scan/try", { method: "POST" }),
        adminFetch("/dimensioner-transaction-in/in/next"),
      ];
      return (await Promise.all(calls)).map(({ status }) => status);
    };
    try {
      // There is nobody to deploy: the flows lie there already.
      await writeFile(
        join(userDir, "flows.json"),
        JSON.stringify([
          { id: "tab", type: "tab" },
          { id: "device", type: "dimensioner-device" },
          { id: "cloud", type: "dimensioner-cloud" },
        ]),
      );
      const closed = await start({ type: "credentials", users });
      assert.deepEqual(await statuses(closed), [401, 401, 401, 401, 401, 401, 401, 401, 401]);
      await closed.stop();
      const readers = await start({ type: "credentials", users, default: { permissions: "read" } });
      assert.deepEqual(await statuses(readers), [401, 401, 401, 401, 401, 200, 204, 401, 200]);
      await readers.stop();
    } finally {
      await rm(userDir, { recursive: true, force: true });
    }
  });

  describe("reading a scan with the settings of a dialog", () => {
    const settings = {
      which: "auto",
      ai: "00",
      pattern: "",
      symbologies: "gs1,digitalLink,ean,other",
      invalid: "error",
      controls: "VIDEO_START",
      noReads: "NoRead",
      separator: "",
    };
    const readScan = (given: object, headers: Record<string, string> = {}): Promise<Response> =>
      nodeRed.adminFetch("/dimensioner-scan/try", {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify({ ...settings, ...given }),
      });
    const trial = async (given: object) => {
      const response = await readScan(given);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("cache-control"), "no-store");
      return (await response.json()) as Record<string, unknown>;
    };

    it("says how it is read, and what becomes the reference or the control code", async () => {
      const { scan, reference } = await trial({ scan: "]C100123456789012345675\r\n" });
      assert.equal(reference, "123456789012345675");
      assert.equal((scan as { aim: string }).aim, "]C1");
      assert.equal((await trial({ scan: "video_start" }))["control"], "VIDEO_START");
      const pattern = { which: "pattern", pattern: "ORDER-(\\d+)" };
      assert.equal((await trial({ ...pattern, scan: "ORDER-4711" }))["reference"], "4711");
    });

    it("says why a node would fail, beside what there is to see", async () => {
      const bad = await trial({ scan: "]C100123456789012345670" });
      assert.deepEqual([bad["reference"], (bad["error"] as Answer).key], [undefined, "scanWrong"]);
      assert.ok(bad["scan"] !== undefined);
      assert.equal((await trial({ scan: "" }))["key"], "scanEmpty");
      const setting = await trial({ symbologies: "pdf", scan: "A" });
      assert.deepEqual([setting["state"], setting["key"]], ["bad", "configInvalid"]);
      const expression = await trial({ which: "pattern", pattern: "(a)(b)", scan: "A" });
      assert.equal(expression["key"], "configInvalid");
    });

    it("an expression with exponentially many ways to match is read as fast as any other", async () => {
      const pattern = `(${"(?:a?|b?)".repeat(50)}c)`;
      const [tried, other] = await Promise.all([
        trial({ which: "pattern", pattern, scan: "abc" }),
        nodeRed.adminFetch("/dimensioner-cloud/cloud/devices"),
      ]);
      assert.deepEqual([tried["reference"], other.status], ["abc", 200]);
      const large = await trial({ which: "pattern", pattern: `(${"\\p{L}{1000}".repeat(8)})`, scan: "abc" });
      assert.equal((large["values"] as Answer["values"])?.["problem"] !== undefined, true);
      assert.equal(large["key"], "configInvalid");
    });

    it("refuses what no dialog sends", async () => {
      assert.equal((await readScan({ scan: 5 })).status, 400);
      assert.equal((await readScan({ scan: "x".repeat(20_000) })).status, 400);
      const form = { "Content-Type": "application/x-www-form-urlencoded" };
      assert.equal((await readScan({ scan: "A" }, form)).status, 400);
    });
  });
});
