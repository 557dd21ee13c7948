import assert from "node:assert/strict";
import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import { type Simulator, type SurfaceName, startSimulator } from "../../src/simulator/index.ts";
import { type Message, TestFlow } from "../support/flow.ts";

const code = "ABCD2345";

interface Endpoint {
  readonly surface: SurfaceName;
  /** Method and path; names in braces stand for what the test fills in. */
  readonly endpoint: string;
  readonly node: string;
  readonly properties?: object;
  readonly message?: Message;
  readonly query?: Readonly<Record<string, string>>;
}

const given = {
  transactionReference: "R 1",
  transactionReferenceType: "str",
  customReference1: "A",
  customReference2: "B",
  customReference3: "C",
};
const asTold = {
  TransactionReference: "R 1",
  CustomReference1: "A",
  CustomReference2: "B",
  CustomReference3: "C",
};

/** Every endpoint that a node asks for, and what the node says there. */
const endpoints: readonly Endpoint[] = [
  {
    surface: "newer",
    endpoint: "GET /api/v1/measure",
    node: "measure",
    properties: given,
    query: asTold,
  },
  ...(["annotated", "color", "depth"] as const).map((image): Endpoint => ({
    surface: "newer",
    endpoint: `GET /api/v1/image/${image === "annotated" ? "annotatedcolor" : image}/{imageid}`,
    node: "fetch-image",
    properties: { image },
  })),
  {
    surface: "newer",
    endpoint: "POST /api/v1/video/start",
    node: "video-control",
    properties: { action: "start", ...given },
    query: asTold,
  },
  ...(["stop", "cancel"] as const).map((action): Endpoint => ({
    surface: "newer",
    endpoint: `POST /api/v1/video/${action}`,
    node: "video-control",
    properties: { action, ...given },
  })),
  ...(["download", "stream"] as const).map((method): Endpoint => ({
    surface: "newer",
    endpoint: `GET /api/v1/video/${method}`,
    node: "fetch-video",
    properties: { method },
  })),
  {
    surface: "earlier",
    endpoint: "GET /api/measure",
    node: "measure",
    properties: { device: "older", ...given },
  },
  {
    surface: "cloud",
    endpoint: "GET /api/transactionmedia/{transactionId}",
    node: "media-list",
    properties: { contentType: "video/mp4" },
    query: { contentType: "video/mp4" },
  },
  {
    surface: "cloud",
    endpoint: "GET /api/transactionmedia/{transactionId}/{contentId}",
    node: "fetch-media",
  },
  {
    surface: "cloud",
    endpoint: "GET /api/remotetrigger/startrecording",
    node: "remote-trigger",
    properties: { action: "start", cRef1: "A", cRef2: "B", cRef3: "C" },
    message: { transactionReference: "R 1" },
    query: { deviceReference: code, transactionReference: "R 1", cRef1: "A", cRef2: "B", cRef3: "C" },
  },
  ...(["stop", "cancel"] as const).map((action): Endpoint => ({
    surface: "cloud",
    endpoint: `GET /api/remotetrigger/${action}recording`,
    node: "remote-trigger",
    properties: { action },
    query: { deviceReference: code },
  })),
  {
    surface: "cloud",
    endpoint: "GET /api/remotetrigger/measure",
    node: "remote-trigger",
    properties: { action: "measure", cRef1: "A" },
    message: { transactionReference: "R 1" },
    query: { deviceReference: code, transactionReference: "R 1" },
  },
  { surface: "cloud", endpoint: "GET /api/deviceclients", node: "device-list" },
];

describe("the API, endpoint by endpoint", () => {
  let sim: Simulator;
  let flow: TestFlow;
  const idOf = ({ endpoint, node }: Endpoint): string => `${node} ${endpoint}`;

  before(async () => {
    sim = await startSimulator();
    flow = await TestFlow.start(
      [
        { id: "newer", type: "dimensioner-device", address: sim.newer.origin, timeout: 60 },
        { id: "older", type: "dimensioner-device", address: sim.earlier.origin, generation: "earlier" },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, timeout: 60 },
        ...endpoints.map((one) => ({
          id: idOf(one),
          z: "tab",
          type: `dimensioner-${one.node}`,
          device: "newer",
          cloud: "cloud",
          deviceReference: code,
          ...one.properties,
        })),
      ],
      { cloud: { token: sim.cloud.token } },
    );
  });
  after(async () => {
    await flow.stop();
    await sim.close();
  });

  /** What has to be there for any of the endpoints to have something to say. */
  async function prepare(): Promise<Message> {
    sim.reset();
    sim.newer.setMode("measurement-only");
    const measured = await fetch(`${sim.newer.origin}/api/v1/measure`);
    const { imageIdentifier } = (await measured.json()) as { imageIdentifier: string };
    const { contentId } = sim.cloud.addMedia("905865", { contentType: "video/mp4", generateBytes: 200_000 });
    return { imageIdentifier, transactionId: "905865", payload: { contentId } };
  }
  async function record(): Promise<void> {
    sim.newer.setMode("video-only");
    await fetch(`${sim.newer.origin}/api/v1/video/start`, { method: "POST" });
    await fetch(`${sim.newer.origin}/api/v1/video/stop`, { method: "POST" });
  }

  for (const one of endpoints) {
    const { surface, endpoint, node, query = {} } = one;
    const device = surface === "cloud" ? "" : ` of the ${surface} device`;
    it(`${endpoint}${device}: ${node} asks for it once`, async () => {
      const msg: Message = { ...(await prepare()), ...one.message };
      if (node !== "measure" && !endpoint.endsWith("measure") && node !== "fetch-image") {
        await record();
      }
      const before = sim.requests.length;
      const { error, sent } = await flow.run(idOf(one), msg);
      assert.equal(error, undefined, error?.message);
      assert.equal(sent.length, 1);
      // Beside what is asked for, the cloud is asked for names.
      const names = ["/api/terminals", ...(node === "device-list" ? [] : ["/api/deviceclients"])];
      const asked = sim.requests
        .slice(before)
        .filter((request) => request.surface === surface && !names.includes(request.path));
      const filled = (text: string): string =>
        text
          .replace("{imageid}", String(msg["imageIdentifier"]))
          .replace("{transactionId}", "905865")
          .replace(
            "{contentId}",
            sim.cloud.transactions.find(({ id }) => id === "905865")?.media[0]?.contentId ?? "",
          );
      assert.deepEqual(
        asked.map(({ method, path }) => `${method} ${path}`),
        [filled(endpoint)],
      );
      assert.deepEqual(Object.fromEntries(new URLSearchParams(asked[0]?.query)), query);
      const { authorization } = asked[0]?.headers ?? {};
      assert.equal(authorization, surface === "cloud" ? `Bearer ${sim.cloud.token}` : undefined);
    });
  }

  it("GET /api/terminals: device-list asks for it once", async () => {
    await prepare();
    await flow.run("device-list GET /api/deviceclients", {});
    assert.equal(sim.requestsTo("cloud", "/api/terminals").length, 1);
  });

  it("GET /api/deviceClients/{id} and /api/terminals/{id}: the library asks for one, 404 when absent", async () => {
    const cloud = new CloudClient({ baseUrl: sim.cloud.origin, token: sim.cloud.token });
    try {
      const [device] = await cloud.devices();
      const [terminal] = await cloud.terminals();
      assert.ok(device !== undefined && terminal !== undefined);
      assert.equal((await cloud.device(device.id)).registrationCode, device.registrationCode);
      assert.deepEqual(await cloud.terminal(terminal.id), terminal);
      await assert.rejects(cloud.device("nobody"), { code: "ERR_NOT_FOUND" });
      await assert.rejects(cloud.terminal("nobody"), { code: "ERR_NOT_FOUND" });
    } finally {
      await cloud.close();
    }
  });

  it("GET /api/v1/ping/{msg} and /api/ping/{msg}: echo without an effect", async () => {
    for (const [origin, generation] of [
      [sim.newer.origin, "newer"],
      [sim.earlier.origin, "earlier"],
    ] as const) {
      const device = new DeviceClient({ address: origin, generation });
      const before = [sim.newer.actions.measures, sim.earlier.actions.measures];
      assert.deepEqual(await device.ping("hello"), { msg: "hello" });
      assert.deepEqual([sim.newer.actions.measures, sim.earlier.actions.measures], before);
      await device.close();
    }
  });

  it("GET /api/v1/image/{imageid} and GET /api/v1/video: the same as the paths that are asked for", async () => {
    const { imageIdentifier } = await prepare();
    await record();
    const read = async (path: string): Promise<Buffer> => {
      const answer = await fetch(sim.newer.origin + path);
      assert.equal(answer.status, 200, path);
      return Buffer.from(await answer.arrayBuffer());
    };
    const image = String(imageIdentifier);
    assert.ok(
      (await read(`/api/v1/image/${image}`)).equals(await read(`/api/v1/image/annotatedcolor/${image}`)),
    );
    assert.ok((await read("/api/v1/video")).equals(await read("/api/v1/video/stream")));
  });

  it("video answers 200 without a body, with the header api-supported-versions or without it", async () => {
    for (const versionHeader of [true, false]) {
      const other = await startSimulator({ mode: "video-only", versionHeader });
      const device = new DeviceClient({ address: other.newer.origin });
      try {
        const answer = await fetch(`${other.newer.origin}/api/v1/video/start`, { method: "POST" });
        assert.deepEqual(
          [answer.status, await answer.text(), answer.headers.get("api-supported-versions")],
          [200, "", versionHeader ? "1.0" : null],
        );
        await device.startVideo();
        await device.stopVideo();
        await device.cancelVideo();
        const { starts, stops, cancels } = other.newer.actions;
        assert.deepEqual([starts, stops, cancels], [2, 1, 1]);
      } finally {
        await device.close();
        await other.close();
      }
    }
  });
});
