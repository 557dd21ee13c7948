import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { NodeError } from "../../src/runtime/status/node-status.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";
import { controls, showyTexts } from "../support/hostile.ts";
import { closesAfterEach } from "../support/opened.ts";
import { reply, replyJson, startServer } from "../support/servers.ts";

const credentials = { cloud: { token: "simulator" } };
const on = (id: string, type: string, more: object): FlowNode => ({
  id,
  z: "tab",
  type: `dimensioner-${type}`,
  ...more,
});
const measured = {
  errorCode: 0,
  objectCount: 1,
  measuredObjects: [{ errorCode: 0, length: 1, width: 2, height: 3 }],
};

function isReadable(error: NodeError | undefined, about: string): void {
  if (error === undefined) {
    return;
  }
  const { message, cause } = error;
  for (const text of [message, String(error), cause.hint, error.stack?.split("\n    at ")[0] ?? ""]) {
    assert.doesNotMatch(text, controls, `${about}: ${JSON.stringify(text)}`);
    assert.ok(text.length < 600, `${about}: ${text.length} characters`);
  }
}

describe("hostile texts: in logs, statuses and sentences they stay one line of text", () => {
  const opened = closesAfterEach();
  let flow: TestFlow | undefined;
  let sim: Simulator | undefined;

  const stop = async (): Promise<void> => {
    const shown = flow?.shown ?? [];
    await flow?.stop();
    flow = undefined;
    for (const { text } of shown) {
      assert.ok(text.length < 32, text);
      assert.doesNotMatch(text, controls, JSON.stringify(text));
      assert.ok(text.isWellFormed(), JSON.stringify(text));
    }
  };

  afterEach(async () => {
    await sim?.close();
    sim = undefined;
    await stop();
  });

  it("said by a device: in its result, its failures and its headers", async () => {
    for (const text of showyTexts) {
      const answers = [
        { ...measured, dimsUnitOfMeasure: text, weightUnitOfMeasure: text },
        { ...measured, errorCode: 7, errorMessage: text },
        { ...measured, measuredObjects: [{ errorCode: 7, errorMessage: text }] },
        { ...measured, objectCount: 9, errorMessage: text },
        { [text]: text, errorCode: text },
        text,
      ];
      const device = opened(
        await startServer(({ index }, socket) => {
          const answer = answers[index];
          if (answer === undefined) {
            const value = text.replace(/[\r\n]/g, "").slice(0, 1000);
            reply(socket, { headers: { "content-encoding": value, "content-range": value }, body: "{}" });
          } else {
            replyJson(socket, answer);
          }
        }),
      );
      const started = await TestFlow.start([
        { id: "device", type: "dimensioner-device", address: device.origin },
        on("node", "measure", { device: "device" }),
      ]);
      flow = started;
      for (let index = 0; index <= answers.length; index++) {
        const about = `${index} ${JSON.stringify(text).slice(0, 40)}`;
        const { error, sent } = await started.run("node", { transactionReference: "ORDER-1" });
        assert.equal(sent.length === 1, error === undefined, about);
        isReadable(error, about);
        if (index === 0 && text.length > 300) {
          assert.match(error?.message ?? "", /dimsUnitOfMeasure has more than 300 characters/);
        } else if (index === 0) {
          const { dimsUnitOfMeasure } = sent[0]?.msg["payload"] as { dimsUnitOfMeasure: string };
          assert.equal(dimsUnitOfMeasure, text, "a value is as the device sent it");
        }
      }
      const isShown = started.shown.some(({ text: status }) => status.startsWith("1×2×3"));
      assert.equal(isShown, text.length <= 300);
      await stop();
    }
  });

  it("said by a message, wherever a node takes a value from", async () => {
    sim = await startSimulator();
    const nodes = [
      on("image", "fetch-image", { device: "device", image: "msg" }),
      on("image-id", "fetch-image", { device: "device", imageIdentifier: "text" }),
      on("file", "fetch-image", {
        device: "device",
        imageIdentifier: "id",
        output: "file",
        folder: "/nowhere",
        filename: "text",
        filenameType: "msg",
      }),
      on("action", "video-control", { device: "device", action: "msg" }),
      on("code", "remote-trigger", {
        cloud: "cloud",
        action: "stop",
        deviceReference: "text",
        deviceReferenceType: "msg",
      }),
      on("list", "media-list", { cloud: "cloud", transactionId: "text" }),
      on("dock", "measure", { deviceFrom: "text" }),
      on("site", "media-list", { cloudFrom: "text" }),
      on("expression", "media-list", {
        cloud: "cloud",
        transactionId: "$error(text)",
        transactionIdType: "jsonata",
      }),
      on("archive", "archive", { store: "store" }),
    ];
    const { origin } = sim.newer;
    flow = await TestFlow.start(
      [
        { id: "device", type: "dimensioner-device", name: "Dock", address: origin },
        { id: "cloud", type: "dimensioner-cloud", name: "Site", baseUrl: sim.cloud.origin },
        storeNode("/nowhere", "store"),
        ...nodes,
      ],
      credentials,
    );
    for (const text of showyTexts) {
      for (const { id } of nodes) {
        const about = `${id} ${JSON.stringify(text).slice(0, 40)}`;
        const msg = { text, id: "1", image: text, action: text, payload: text, transactionId: text };
        const { error } = await flow.run(id, msg);
        assert.ok(error !== undefined, about);
        isReadable(error, about);
      }
    }
  });

  it("written into settings", async () => {
    const types = {
      device: ["address", "generation", "timeout", "queueLimit", "maxWait", "checkInterval"],
      cloud: ["baseUrl", "timeout", "queueLimit", "maxWait", "tls", "proxy"],
    } as const;
    for (const whole of showyTexts) {
      // Who writes settings may write long ones, and reads them again.
      const text = whole.slice(0, 300);
      const usual = { device: { address: "127.0.0.1:9" }, cloud: { baseUrl: "http://127.0.0.1:9" } };
      const configs = (["device", "cloud"] as const).flatMap((type) =>
        types[type].map((field) => ({
          id: `${type}-${field}`,
          type: `dimensioner-${type}`,
          ...usual[type],
          [field]: text,
        })),
      );
      const users = configs.map(({ id }) =>
        id.startsWith("device")
          ? on(`by-${id}`, "measure", { device: id })
          : on(`by-${id}`, "media-list", { cloud: id, transactionId: "1", transactionIdType: "str" }),
      );
      const settings = [
        "layout",
        "wait",
        "concurrency",
        "giveUp",
        "onIncomplete",
        "store",
        "images",
        "media",
      ];
      const archives = settings.map((field) =>
        on(`archive-${field}`, "archive", { store: "store", [field]: text }),
      );
      const tokens = Object.fromEntries(configs.map(({ id }) => [id, { token: "t" }]));
      flow = await TestFlow.start([storeNode("", "store"), ...configs, ...users, ...archives], tokens);
      for (const { id } of [...users, ...archives]) {
        const { error } = await flow.run(id, { transactionId: "1", payload: Buffer.from("x") });
        const about = `${id} ${JSON.stringify(text).slice(0, 40)}`;
        assert.ok(error !== undefined, about);
        isReadable(error, about);
      }
      await stop();
    }
  });

  it("posted to a webhook", async () => {
    flow = await TestFlow.start([on("hook", "transaction-in", { path: "in", secretIn: "none" })]);
    const warned: string[] = [];
    flow.node("hook").warn = (text: unknown) => void warned.push(String(text));
    const server = createServer(flow.webApp).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const post = async (body: string): Promise<number> => {
      const headers = { "content-type": "application/json", connection: "close" };
      const answer = await fetch(`http://127.0.0.1:${port}/in`, { method: "POST", headers, body });
      assert.doesNotMatch(await answer.text(), /[^\n -~]/);
      return answer.status;
    };
    try {
      for (const [index, text] of showyTexts.entries()) {
        assert.equal(await post(text), 400);
        assert.equal(await post(JSON.stringify({ id: [text], errorCode: text })), 400);
        const record = {
          id: `${text.slice(0, 150)}${index}`,
          errorCode: 5,
          errorDescription: text,
          transactionReference: text,
        };
        assert.equal(await post(JSON.stringify(record)), 204);
      }
      assert.ok(warned.length > 0);
      for (const line of warned) {
        assert.doesNotMatch(line, controls, JSON.stringify(line));
        assert.ok(line.length < 300, line);
      }
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
