import assert from "node:assert/strict";
import { pictureOf, readPackages, sha256Of, until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import type { End, FlowNode, Message, TestFlow } from "../support/flow.ts";
import { archive, ArchiveSuite, credentials, nextEnd } from "./archive-suite.ts";

const record = {
  source: "webhook",
  transactionId: "1",
  transactionReference: "ORDER-1",
  customReference1: "one",
  customReference3: "three",
  barcodeReference: "4006381333931",
  deviceClientId: "DOCK-1",
  deviceSerialNumber: "SN-1",
  deviceCertificate: "AM-7001",
  dateTimeUtc: "2026-11-02T09:14:31Z",
  dimensionsLegalForTrade: true,
  length: 33.5,
  width: 21,
  height: 12.5,
  dimsUnitOfMeasure: "cm",
  weight: 1.27,
  weightUnitOfMeasure: "kg",
};
const rawResponse = '{"errorCode":0,"length":33.5}';
const billable = {
  weight: 2,
  unit: "kg",
  basis: "dimensional",
  explanation: "33.5 × 21 × 12.5 cm",
  ruleId: "dhl-express",
  ruleDate: null,
  legalForTrade: true,
  computed: true,
};
const scan = { text: "00395212340000004173", symbology: "GS1-128", sscc: "395212340000004173" };
const started = { transactionReference: "ORDER-1", at: "2026-11-02T09:14:00.000Z" };
const by = { transactionReference: "ORDER-2", at: "2026-11-02T09:14:20.000Z" };
/** The measurement of another parcel has ended its recording: the cloud's video is not this parcel's. */
const video = { action: "start", ...started, recording: "taken", by };

describe("dimensioner-archive, sent again what has ended in an error", () => {
  const suite = new ArchiveSuite();
  const sentTwice = { media: "list", expect: "image/jpeg, video/mp4", wait: 0.1 };

  const addPicture = (): void => {
    suite.sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("cloud") });
  };

  async function incomplete(test: TestFlow, message: Message): Promise<void> {
    const { error } = await test.run("node", message);
    assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_MEDIA_INCOMPLETE", true]);
  }

  /** As a Catch node with a delay behind it does, with the very message. Returns the manifest of the only package. */
  async function again(test: TestFlow, root: string, message: Message) {
    delete message["_msgid"];
    const { error } = await test.run("node", message);
    assert.equal(error, undefined);
    const [manifest, ...others] = (await readPackages(root)).values();
    assert.equal(others.length, 0);
    assert.ok(manifest?.complete);
    return manifest;
  }

  it("has the measurement of the first time, after two errors as well", async () => {
    await withFolder(async (root) => {
      addPicture();
      const test = await suite.start(root, archive(root, sentTwice));
      const message: Message = { transactionId: "1", payload: { ...record } };
      await incomplete(test, message);
      assert.equal((message["payload"] as unknown[]).length, 1, "what there is in the cloud");
      delete message["_msgid"];
      await incomplete(test, message);
      suite.addVideo("1");
      const manifest = await again(test, root, message);
      assert.notEqual(manifest.measurement, null);
      assert.deepEqual(manifest.measured, {
        length: 33.5,
        width: 21,
        height: 12.5,
        dimsUnitOfMeasure: "cm",
        weight: 1.27,
        weightUnitOfMeasure: "kg",
      });
      assert.deepEqual(manifest.references, {
        transactionReference: "ORDER-1",
        customReference1: "one",
        customReference2: null,
        customReference3: "three",
        barcodeReference: "4006381333931",
      });
      assert.deepEqual(
        [manifest.device, manifest.times.deviceUtc, manifest.legalForTrade],
        ["DOCK-1", record.dateTimeUtc, true],
      );
      assert.deepEqual(manifest.instrument, { serialNumber: "SN-1", certificate: "AM-7001" });
    });
  });

  it("keeps a measurement on payload if msg.measurement is something else", async () => {
    await withFolder(async (root) => {
      addPicture();
      const test = await suite.start(root, archive(root, sentTwice));
      const message: Message = { transactionId: "1", payload: { ...record }, measurement: "ours" };
      await incomplete(test, message);
      assert.deepEqual([message["payload"], message["measurement"]], [record, "ours"]);
    });
  });

  it("has the picture that the message brought", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { ...sentTwice, expect: "video/mp4" }));
      const picture = pictureOf("a");
      const message: Message = { transactionId: "1", payload: picture, contentType: "image/jpeg" };
      await incomplete(test, message);
      suite.addVideo("1");
      const { items } = await again(test, root, message);
      assert.deepEqual(
        items.map(({ source, sha256 }) => [source, sha256 === sha256Of(picture)]),
        [
          ["message", true],
          ["cloud", false],
        ],
      );
    });
  });

  it("has the payload from which a setting reads", async () => {
    await withFolder(async (root) => {
      const node = archive(root, { ...sentTwice, expect: "video/mp4", transactionId: "payload.id" });
      const test = await suite.start(root, node);
      const message: Message = { payload: { id: "1" } };
      await incomplete(test, message);
      suite.addVideo("1");
      assert.equal((await again(test, root, message)).transactionId, "1");
    });
  });

  /** Deploys while the job waits for its cloud, which has not answered yet, and returns how the resumed job ends. */
  async function endResumed(test: TestFlow, node: FlowNode, message: Message): Promise<End> {
    const fault = suite.sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "delay", ms: 600_000 } });
    const asked = suite.sim.nextRequest(({ path }) => path === "/api/transactionmedia/1");
    const running = test.start("node", message);
    await asked;
    const deployed = test.deploy([...suite.configs(String(node["folder"])), node], credentials);
    assert.equal((await running).error?.code, "ERR_CANCELLED");
    const ended = nextEnd(test, "node");
    suite.sim.faults.remove(fault);
    await deployed;
    return await ended;
  }

  it("has after a deploy everything that its job was made from", async () => {
    await withFolder(async (root) => {
      addPicture();
      const node = {
        ...archive(root, { ...sentTwice, cloud: "", cloudFrom: "site", keep: "order.id" }),
        folder: root,
      };
      const test = await suite.start(root, node);
      const order = { id: 7, secret: 1 };
      const measured = { transactionId: "1", payload: record, rawResponse, billable, scan, site: "A", order };
      const { error, msg } = await endResumed(test, node, { ...measured });
      assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_MEDIA_INCOMPLETE", true]);
      assert.deepEqual([msg["site"], msg["order"], msg["resumed"]], ["A", { id: 7 }, true]);
      assert.equal((msg["payload"] as unknown[]).length, 1);
      suite.addVideo("1");
      const manifest = await again(test, root, msg);
      assert.notEqual(manifest.measurement, null);
      assert.equal(manifest.raw?.sha256, sha256Of(rawResponse));
      assert.deepEqual([manifest.billable, manifest.scan], [billable, scan]);
      assert.deepEqual([manifest.references.customReference3, manifest.device], ["three", "DOCK-1"]);
    });
  });

  for (const keep of ["payload.source", "payload.measuredObjects", "payload"]) {
    it(`has after a deploy the whole measurement, if ${keep} was kept`, async () => {
      await withFolder(async (root) => {
        const given = { ...record, measuredObjects: [{ length: 33.5 }], transactionId: 1 };
        const node = {
          ...archive(root, { ...sentTwice, keep, transactionId: "payload.transactionId" }),
          folder: root,
        };
        const test = await suite.start(root, node);
        const { error, msg } = await endResumed(test, node, { payload: given });
        assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_MEDIA_INCOMPLETE", true]);
        addPicture();
        suite.addVideo("1");
        const { measurement } = await again(test, root, msg);
        assert.equal(measurement?.sha256, sha256Of(`${JSON.stringify(given, null, 2)}\n`));
      });
    });
  }

  it("has after a deploy the payload from which a setting reads, beside its measurement", async () => {
    await withFolder(async (root) => {
      const node = { ...archive(root, { ...sentTwice, transactionId: "payload.id" }), folder: root };
      const test = await suite.start(root, node);
      const { error, msg } = await endResumed(test, node, { payload: { id: "1" }, measurement: record });
      assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_MEDIA_INCOMPLETE", true]);
      assert.deepEqual([msg["payload"], msg["measurement"]], [{ id: "1" }, record]);
    });
  });

  it("has after a deploy a list of what is expected that is no longer than before", async () => {
    await withFolder(async (root) => {
      const expect = { expect: "wanted", expectType: "msg" };
      const node = { ...archive(root, { ...sentTwice, ...expect }), folder: root };
      const test = await suite.start(root, node);
      const wanted = Array<string>(600).fill("ab").join(",");
      const { error, msg } = await endResumed(test, node, { transactionId: "1", payload: record, wanted });
      assert.deepEqual([error?.cause.retryable, msg["wanted"]], [true, wanted]);
    });
  });

  for (const keep of ["order.id", ""]) {
    const isWhole = keep !== "";
    it(`is ${isWhole ? "" : "not "}asked for after a deploy if JSONata can${isWhole ? "" : "not"} read the ID again`, async () => {
      await withFolder(async (root) => {
        const id = { transactionId: "order.id", transactionIdType: "jsonata" };
        const node = { ...archive(root, { ...sentTwice, ...id, keep }), folder: root };
        const test = await suite.start(root, node);
        const { error } = await endResumed(test, node, { order: { id: "1" }, payload: record });
        assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_MEDIA_INCOMPLETE", isWhole]);
      });
    });
  }

  for (const [keep, isWhole, ids] of [
    ["id", true, { 200000000: "1" }],
    ["", false, undefined],
  ] as const) {
    it(`${isWhole ? "has" : "is not asked for after a deploy without"} the index that a setting reads`, async () => {
      await withFolder(async (root) => {
        const node = { ...archive(root, { ...sentTwice, keep, transactionId: "ids[msg.id]" }), folder: root };
        const test = await suite.start(root, node);
        const given = { ids: { 200000000: "1" }, id: 200_000_000, payload: record };
        const { error, msg } = await endResumed(test, node, given);
        assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_MEDIA_INCOMPLETE", isWhole]);
        assert.deepEqual(msg["ids"], ids);
      });
    });
  }

  it("leaves out after a deploy the video of another parcel", async () => {
    await withFolder(async (root) => {
      suite.addVideo("1");
      const node = { ...archive(root, { ...sentTwice, expect: "image/jpeg" }), folder: root };
      const test = await suite.start(root, node);
      const { error, msg } = await endResumed(test, node, { transactionId: "1", payload: record, video });
      assert.equal(error?.code, "ERR_MEDIA_INCOMPLETE");
      addPicture();
      const { items, recording } = await again(test, root, msg);
      assert.deepEqual(recording, { ...started, recording: "taken", by });
      assert.deepEqual(
        items.map(({ contentTypeFound }) => contentTypeFound),
        ["image/jpeg"],
      );
    });
  });

  it("is not asked for after a deploy if the message had media, and says where they are", async () => {
    await withFolder(async (root) => {
      const node = { ...archive(root, { ...sentTwice, expect: "video/mp4" }), folder: root };
      const test = await suite.start(root, node);
      const { error, msg } = await endResumed(test, node, { transactionId: "1", payload: pictureOf("a") });
      assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_MEDIA_INCOMPLETE", false]);
      const [, path = ""] = /(\/\S*aside\/[\w-]+)/.exec(error?.message ?? "") ?? [];
      assert.ok(path.startsWith(root), error?.message);
      assert.equal(msg["transactionId"], "1");
    });
  });

  it("is not asked for after a deploy and a reset either", async () => {
    await withFolder(async (root) => {
      const node = archive(root, { media: "list", expect: "video/mp4", wait: 600 });
      const test = await suite.start(root, node);
      const running = test.start("node", { transactionId: "1", payload: pictureOf("a") });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      const deployed = test.deploy([...suite.configs(root), node], credentials);
      await running;
      const before = test.shown.length;
      await deployed;
      await until(() => test.shown.slice(before).some(({ fill }) => fill === "yellow"), "it waits again");
      const ended = nextResumed(test);
      await test.run("node", { reset: true });
      const { error } = await ended;
      assert.deepEqual([error?.code, error?.cause.retryable], ["ERR_CANCELLED", false]);
    });
  });
});

/** How the message of a resumed job ends. */
async function nextResumed(test: TestFlow): Promise<End> {
  const found = () => test.ends.find(({ msg, error }) => msg["resumed"] === true && error !== undefined);
  await until(() => found() !== undefined, "the resumed job's message ends");
  return found() ?? assert.fail();
}
