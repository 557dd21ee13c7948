import assert from "node:assert/strict";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { nested } from "../support/deep-message.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";

const transactionId = "905865";

describe("dimensioner-media-list", () => {
  let sim: Simulator;
  let flow: TestFlow;
  const start = async (properties: object = {}, more: readonly FlowNode[] = []): Promise<void> => {
    flow = await TestFlow.start(
      [
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, timeout: 60 },
        { id: "node", z: "tab", type: "dimensioner-media-list", cloud: "cloud", ...properties },
        ...more,
      ],
      { cloud: { token: sim.cloud.token } },
    );
  };
  const add = (contentType: string, description: string): void => {
    sim.cloud.addMedia(transactionId, { contentType, description, bytes: Buffer.from("x") });
  };

  beforeEach(async () => {
    sim = await startSimulator();
  });
  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  it("lists what there is, all or of one content type", async () => {
    await start({ contentType: "only", contentTypeType: "msg" });
    add("image/jpeg", "ColorImageJpeg");
    add("video/mp4", "Video");
    const all = await flow.run("node", { transactionId });
    assert.deepEqual(
      (all.sent[0]?.msg["payload"] as { contentType: string }[]).map(({ contentType }) => contentType),
      ["image/jpeg", "video/mp4"],
    );
    const some = await flow.run("node", { transactionId, only: "video/mp4" });
    assert.equal((some.sent[0]?.msg["payload"] as unknown[]).length, 1);
    assert.equal(flow.lastStatus("node")?.text, "media: 1");
  });

  it("splits into messages that a Join node puts together again", async () => {
    await start({ emit: "split", wires: [["joiner"]] }, [
      { id: "joiner", z: "tab", type: "join", mode: "auto", wires: [["out-0"]] },
    ]);
    add("image/jpeg", "ColorImageJpeg");
    add("image/bmp", "DepthImage16Bit");
    const joined = new Promise((resolve) => flow.node("out-0").once("input", resolve));
    const { sent } = await flow.run("node", { transactionId, topic: "parcels" });
    assert.deepEqual(
      sent.map(({ msg }) => ({
        ...(msg["parts"] as object),
        id: "",
        type: msg["contentType"],
        topic: msg["topic"],
      })),
      [
        { id: "", index: 0, count: 2, type: "image/jpeg", topic: "parcels" },
        { id: "", index: 1, count: 2, type: "image/bmp", topic: "parcels" },
      ],
    );
    const ids = sent.map(({ msg }) => (msg["parts"] as { id: string }).id);
    assert.equal(new Set(ids).size, 1);
    const { payload } = (await joined) as { payload: { contentId: string }[] };
    assert.deepEqual(
      payload.map(({ contentId }) => contentId),
      sent.map(({ msg }) => msg["contentId"]),
    );
  });

  it("copies for none of the messages a payload that is replaced", async () => {
    await start({ emit: "split" });
    add("image/jpeg", "ColorImageJpeg");
    add("video/mp4", "Video");
    const payload = new Proxy({}, { ownKeys: () => assert.fail("the payload was copied") });
    const given = { payload };
    const { error, sent } = await flow.run("node", { transactionId, ...given });
    assert.equal(error, undefined);
    assert.ok(sent.length > 1);
  });

  it("refuses to split for a message that is nested too deeply to be copied", async () => {
    await start({ emit: "split" });
    add("image/jpeg", "ColorImageJpeg");
    add("video/mp4", "Video");
    const given = { order: nested(10_000) };
    const { error, sent } = await flow.run("node", { transactionId, ...given });
    assert.deepEqual([error?.code, sent], ["ERR_INPUT", []]);
    assert.match(error?.message ?? "", /nested too deeply/);
  });

  it("ends an empty split with done() and an empty array with []", async () => {
    sim = await replace(sim, { unknownTransaction: "empty-list" });
    await start({ emit: "split" });
    const split = await flow.run("node", { transactionId });
    assert.deepEqual([split.error, split.sent], [undefined, []]);
    await flow.stop();
    await start({ emit: "array" });
    const array = await flow.run("node", { transactionId });
    assert.deepEqual(array.sent[0]?.msg["payload"], []);
  });

  it("waits for what is expected, by content type or description, and shows that it waits", async () => {
    await start({ expect: "video/mp4, annotatedcolorimagejpeg", wait: 60 });
    add("video/mp4", "Video");
    const ended = flow.run("node", { transactionId });
    await flow.untilStatus(
      "node",
      ({ fill, shape, text }) => `${fill} ${shape} ${text}` === "yellow ring waiting for media",
    );
    add("image/jpeg", "AnnotatedColorImageJpeg");
    const { error, sent } = await ended;
    assert.equal(error, undefined);
    assert.equal((sent[0]?.msg["payload"] as unknown[]).length, 2);
  });

  it("waits for a transaction that the cloud does not know yet", async () => {
    await start({ expect: "image/jpeg", wait: 60 });
    const ended = flow.run("node", { transactionId });
    await flow.untilStatus("node", ({ fill }) => fill === "yellow");
    add("image/jpeg", "ColorImageJpeg");
    assert.equal((await ended).error, undefined);
  });

  it("says what is missing when the wait ends, with what there is on the payload", async () => {
    await start({ expect: "image/jpeg, image/jpeg, video/mp4", wait: 0.3 });
    add("image/jpeg", "ColorImageJpeg");
    const msg: Record<string, unknown> = { transactionId };
    const { error, sent } = await flow.run("node", msg);
    assert.equal(error?.code, "ERR_MEDIA_INCOMPLETE");
    assert.equal(error?.cause.retryable, true);
    assert.match(error?.message ?? "", /missing: image\/jpeg, video\/mp4/);
    assert.equal(sent.length, 0);
    assert.equal((msg["payload"] as unknown[]).length, 1);
  });

  it("says what is missing when the wait ends and the cloud does not know the transaction yet", async () => {
    await start({ expect: "video/mp4", wait: 0.3 });
    const msg: Record<string, unknown> = { transactionId: "1" };
    const { error } = await flow.run("node", msg);
    const { retryable, statusCode } = error?.cause ?? {};
    assert.deepEqual([error?.code, retryable, statusCode], ["ERR_MEDIA_INCOMPLETE", true, 404]);
    assert.match(error?.message ?? "", /missing: video\/mp4/);
    assert.deepEqual(msg["payload"], []);
  });

  it("says at once that a transaction is not there when there is nothing to wait for", async () => {
    await start();
    const { error } = await flow.run("node", { transactionId: "1" });
    assert.equal(error?.code, "ERR_NOT_FOUND");
    assert.equal(sim.requests.length, 1);
  });

  it("drops what waits for media on msg.reset", async () => {
    await start({ expect: "video/mp4", wait: 60 });
    add("image/jpeg", "ColorImageJpeg");
    const ended = flow.run("node", { transactionId });
    await flow.untilStatus("node", ({ fill }) => fill === "yellow");
    await flow.run("node", { reset: true });
    const { error } = await ended;
    assert.equal(error?.code, "ERR_CANCELLED");
    assert.match(error?.message ?? "", /reset/);
  });

  it("refuses an ID that is a rounded number: it is that of another transaction", async () => {
    await start();
    const { error } = await flow.run("node", { transactionId: Number("12345678901234567891") });
    assert.equal(error?.code, "ERR_INPUT");
    assert.match(
      error.message,
      /is not valid for transactionId: a number of more than 15 digits is rounded/i,
    );
    assert.equal(sim.requests.length, 0);
  });

  it("refuses a wait that is no number", async () => {
    await start({ wait: "a while" });
    const { error } = await flow.run("node", { transactionId });
    assert.equal(error?.code, "ERR_CONFIG");
    assert.equal(sim.requests.length, 0);
  });
});

async function replace(sim: Simulator, options: Parameters<typeof startSimulator>[0]): Promise<Simulator> {
  await sim.close();
  return startSimulator(options);
}
