import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { properties as archive } from "../../nodes/archive/archive.shared.ts";
import { properties as billableWeight } from "../../nodes/billable-weight/billable-weight.shared.ts";
import { properties as cloud } from "../../nodes/cloud/cloud.shared.ts";
import { properties as device } from "../../nodes/device/device.shared.ts";
import { properties as deviceList } from "../../nodes/device-list/device-list.shared.ts";
import { properties as evidence } from "../../nodes/evidence/evidence.shared.ts";
import { properties as fetchImage } from "../../nodes/fetch-image/fetch-image.shared.ts";
import { properties as fetchMedia } from "../../nodes/fetch-media/fetch-media.shared.ts";
import { properties as fetchVideo } from "../../nodes/fetch-video/fetch-video.shared.ts";
import { properties as measure } from "../../nodes/measure/measure.shared.ts";
import { properties as mediaList } from "../../nodes/media-list/media-list.shared.ts";
import { properties as remoteTrigger } from "../../nodes/remote-trigger/remote-trigger.shared.ts";
import { properties as scan } from "../../nodes/scan/scan.shared.ts";
import { properties as store } from "../../nodes/store/store.shared.ts";
import { properties as transactionIn } from "../../nodes/transaction-in/transaction-in.shared.ts";
import { properties as videoControl } from "../../nodes/video-control/video-control.shared.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";

const unset = "${DIMENSIONER_IS_NOT_SET}";

/** The properties of each action node. */
const nodes: Readonly<Record<string, object>> = {
  "dimensioner-archive": archive,
  "dimensioner-billable-weight": billableWeight,
  "dimensioner-device-list": deviceList,
  "dimensioner-evidence": evidence,
  "dimensioner-fetch-image": fetchImage,
  "dimensioner-fetch-media": fetchMedia,
  "dimensioner-fetch-video": fetchVideo,
  "dimensioner-measure": measure,
  "dimensioner-media-list": mediaList,
  "dimensioner-remote-trigger": remoteTrigger,
  "dimensioner-scan": scan,
  "dimensioner-transaction-in": transactionIn,
  "dimensioner-video-control": videoControl,
};

/** The properties and credentials of each config node, and a node that uses it. */
const configNodes: Readonly<
  Record<string, { properties: object; credentials: string[]; user: string; as: string }>
> = {
  "dimensioner-device": { properties: device, credentials: [], user: "dimensioner-measure", as: "device" },
  "dimensioner-cloud": {
    properties: cloud,
    credentials: ["token"],
    user: "dimensioner-device-list",
    as: "cloud",
  },
  "dimensioner-store": {
    properties: store,
    credentials: ["password", "accessKeyId", "secretAccessKey"],
    user: "dimensioner-evidence",
    as: "store",
  },
};

describe("a property that names an environment variable that is not set", () => {
  let sim: Simulator;
  let folder: string;
  before(async () => {
    sim = await startSimulator();
    folder = await mkdtemp(join(tmpdir(), "unset-"));
  });
  after(async () => {
    await sim.close();
    await rm(folder, { recursive: true, force: true });
  });

  const deployed = (): FlowNode[] => [
    { id: "device", type: "dimensioner-device", address: sim.newer.origin },
    { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin },
    { id: "store", type: "dimensioner-store", folder, folderType: "str" },
  ];
  const config = { device: "device", cloud: "cloud", store: "store" };

  async function refuses(flows: FlowNode[], credentials: object): Promise<void> {
    const flow = await TestFlow.start(flows, { cloud: { token: sim.cloud.token }, ...credentials });
    try {
      const { error, sent } = await flow.run("node", { payload: "ORDER-1", transactionId: "1" });
      assert.equal(error?.code, "ERR_CONFIG", error?.message);
      assert.match(error?.message ?? "", /the environment variable DIMENSIONER_IS_NOT_SET is not set/);
      assert.deepEqual(sent, []);
      assert.deepEqual(sim.requests, []);
    } finally {
      await flow.stop();
    }
  }

  for (const [type, properties] of Object.entries(nodes)) {
    it(`${type}: is ERR_CONFIG that names the variable, whichever property it is, and no request is made`, async () => {
      for (const name of Object.keys(properties)) {
        const path = type === "dimensioner-transaction-in" ? { path: "unset", secretIn: "none" } : {};
        await refuses([...deployed(), { id: "node", z: "tab", type, ...config, ...path, [name]: unset }], {});
      }
    });
  }

  it("is that in a typed input too, alone or in a text", async () => {
    for (const text of ["DIMENSIONER_IS_NOT_SET", unset, `A-${unset}`]) {
      const references = { customReference1: text, customReference1Type: "env" };
      await refuses(
        [...deployed(), { id: "node", z: "tab", type: "dimensioner-measure", ...config, ...references }],
        {},
      );
      const folder = { output: "file", folder: text, folderType: "env" };
      await refuses(
        [...deployed(), { id: "node", z: "tab", type: "dimensioner-fetch-image", ...config, ...folder }],
        {},
      );
    }
  });

  for (const [type, { properties, credentials, user, as }] of Object.entries(configNodes)) {
    it(`${type}: is ERR_CONFIG of the nodes that use it, for each property and credential`, async () => {
      const using = { id: "node", z: "tab", type: user, ...config };
      for (const name of Object.keys(properties).filter((one) => !credentials.includes(one))) {
        const flows = deployed().map((one) => (one.id === as ? { ...one, [name]: unset } : one));
        await refuses([...flows, using], {});
      }
      for (const name of credentials) {
        await refuses([...deployed(), using], { [as]: { token: "t", [name]: unset } });
      }
    });
  }

  it("may be set with the first message in a typed input, and may be empty", async () => {
    const variable = "DIMENSIONER_IS_SET_LATER";
    const references = { customReference1: variable, customReference1Type: "env" };
    const flow = await TestFlow.start([
      ...deployed(),
      { id: "node", z: "tab", type: "dimensioner-measure", ...config, ...references },
    ]);
    try {
      assert.equal(flow.lastStatus("node")?.text, "check the settings");
      for (const value of ["", "A"]) {
        process.env[variable] = value;
        assert.equal((await flow.run("node", { payload: "ORDER-1" })).error, undefined);
      }
    } finally {
      delete process.env[variable];
      await flow.stop();
    }
  });
});
