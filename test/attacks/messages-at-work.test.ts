import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import { withFolder } from "../media/support.ts";
import { TestFlow } from "../support/flow.ts";
import { replyJson, startServer } from "../support/servers.ts";
import { storeNode } from "../support/store-node.ts";

/** A flow whose media list node `list` waits for something to be in the cloud's list. */
async function withList(test: (flow: TestFlow) => Promise<void>): Promise<void> {
  const cloud = await startServer((_request, socket) => replyJson(socket, []));
  const flow = await TestFlow.start(
    [
      { id: "cloud", type: "dimensioner-cloud", baseUrl: cloud.origin },
      { id: "list", z: "tab", type: "dimensioner-media-list", cloud: "cloud", wait: 600 },
    ],
    { cloud: { token: "known" } },
  );
  try {
    await test(flow);
  } finally {
    await flow.stop();
    await cloud.close();
  }
}

describe("A7: messages that come faster than they end", () => {
  it("end in ERR_QUEUE_FULL while a node is processing 1,000 others, which end as usual", () =>
    withList(async (flow) => {
      const first = Array.from({ length: 1_000 }, (_, index) =>
        flow.start("list", { transactionId: `${index}` }),
      );
      const { error } = await flow.run("list", { transactionId: "one more" });
      assert.equal(error?.code, "ERR_QUEUE_FULL");
      assert.match(error.message, /1000 messages/);
      await flow.run("list", { reset: true });
      const codes = new Set((await Promise.all(first)).map((end) => end.error?.code));
      assert.deepEqual([...codes], ["ERR_CANCELLED"]);
      const next = flow.start("list", { transactionId: "next" });
      await flow.run("list", { reset: true });
      assert.equal((await next).error?.code, "ERR_CANCELLED");
    }));

  it("end in ERR_QUEUE_FULL while a node holds 1 GB of data in others, unless there are none", () =>
    withList(async (flow) => {
      // The same memory each time: what counts is what each message has.
      const video = Buffer.alloc(100_000_000);
      const start = (payload: unknown) => flow.start("list", { transactionId: "1", payload });
      const first = [[video, video], video, video, video, video, video, video, video, video].map(start);
      const { error } = await start([Buffer.from("x"), "text"]);
      assert.equal(error?.code, "ERR_QUEUE_FULL");
      assert.match(error.message, /hold more than 1000 MB of data/);
      first.push(start({ ok: true }));
      await flow.run("list", { reset: true });
      assert.deepEqual(
        [...new Set((await Promise.all(first)).map((end) => end.error?.code))],
        ["ERR_CANCELLED"],
      );
      const largest = start(Array.from({ length: 11 }, () => video));
      await flow.run("list", { reset: true });
      assert.equal((await largest).error?.code, "ERR_CANCELLED");
    }));

  it("end in ERR_QUEUE_FULL where their downloads would hold more than 1 GB", async () => {
    const picture = Buffer.alloc(100_000, Buffer.from("ffd8ffe000104a464946", "hex"));
    const head = `HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: ${picture.length}\r\n\r\n`;
    const cloud = await startServer(({ target }, socket) => {
      if (!target.includes("/hung/")) {
        socket.write(Buffer.concat([Buffer.from(head), picture]));
      }
    });
    const fetch = { type: "dimensioner-fetch-media", cloud: "cloud", contentId: "c", contentIdType: "str" };
    const flow = await TestFlow.start(
      [
        { id: "cloud", type: "dimensioner-cloud", baseUrl: cloud.origin },
        { id: "fetch", z: "tab", ...fetch },
      ],
      { cloud: { token: "known" } },
    );
    const start = (transactionId: string, payload?: unknown) =>
      flow.start("fetch", { transactionId, payload });
    const video = Buffer.alloc(99_995_000);
    const first: ReturnType<typeof start>[] = [];
    try {
      assert.equal((await start("1")).error, undefined);
      first.push(
        start(
          "hung",
          Array.from({ length: 10 }, () => video),
        ),
      );
      const { error, msg } = await start("1", "stays");
      assert.deepEqual([error?.code, msg["payload"]], ["ERR_QUEUE_FULL", "stays"]);
      assert.match(error?.message ?? "", /hold more than 1000 MB of data/);
    } finally {
      await flow.stop();
      await cloud.close();
    }
    assert.equal((await first[0])?.error?.code, "ERR_CANCELLED");
  });

  it("end in ERR_QUEUE_FULL while an archive is processing 11,000 others", async () => {
    await withFolder(async (folder) => {
      const hung = await startServer(() => undefined);
      const flow = await TestFlow.start(
        [
          { id: "cloud", name: "A", type: "dimensioner-cloud", baseUrl: hung.origin, timeout: 60 },
          storeNode(folder, "store"),
          {
            id: "archive",
            z: "tab",
            type: "dimensioner-archive",
            store: "store",
            cloudFrom: "site",
            wait: 600,
          },
        ],
        { cloud: { token: "known" } },
      );
      try {
        const msg = () => ({ transactionId: "1", site: "A" });
        const first = Array.from({ length: 11_000 }, () => flow.start("archive", msg()));
        const { error } = await flow.run("archive", msg());
        assert.equal(error?.code, "ERR_QUEUE_FULL");
        assert.match(error.message, /11000 messages/);
        const stopped = flow.stop();
        const codes = new Set((await Promise.all(first)).map((end) => end.error?.code));
        assert.deepEqual([...codes], ["ERR_CANCELLED"]);
        await stopped;
      } finally {
        await hung.close();
      }
    });
  });

  it("are refused by an archive if what they keep could not be copied by the flow of the next start", async () => {
    await withFolder(async (folder) => {
      const archive = {
        id: "archive",
        z: "tab",
        type: "dimensioner-archive",
        store: "store",
        keep: "foo.bar",
      };
      const flow = await TestFlow.start([storeNode(folder, "store"), archive]);
      try {
        let bar: unknown = "deep";
        for (let level = 0; level < 500; level++) {
          bar = [bar];
        }
        const picture = Buffer.from("ffd8ffe000104a464946", "hex");
        const codes: unknown[] = [];
        for (const foo of [{ bar: "flat" }, { bar }]) {
          codes.push((await flow.run("archive", { transactionId: "1", payload: picture, foo })).error?.code);
        }
        assert.deepEqual(codes, [undefined, "ERR_INPUT"]);
        assert.equal(flow.rowsOf("store", "SELECT package_id FROM packages").length, 1);
      } finally {
        await flow.stop();
      }
    });
  });

  it("are refused before anything acts if two wires need a copy that Node-RED cannot make", async () => {
    const device = await startServer((_request, socket) => replyJson(socket, { errorCode: 0 }));
    const flow = await TestFlow.start([
      { id: "device", type: "dimensioner-device", address: device.origin },
      { id: "measure", z: "tab", type: "dimensioner-measure", device: "device", wires: [["out-0", "out-1"]] },
    ]);
    try {
      // As a Function node makes it.
      const mapOfFunction = runInNewContext('(value) => new Map([["foo", value]])') as (
        one: unknown,
      ) => object;
      let foo: unknown = "deep";
      for (let level = 0; level < 5_000; level++) {
        foo = [[foo], new Map([["foo", foo]]), mapOfFunction(foo)][level % 3];
      }
      const { error, sent } = await flow.run("measure", { transactionReference: "R1", foo });
      assert.deepEqual([error?.code, sent.length, device.requests.length], ["ERR_INPUT", 0, 0]);
    } finally {
      await flow.stop();
      await device.close();
    }
  });
});
