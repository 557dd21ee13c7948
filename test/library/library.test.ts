import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import {
  CloudClient,
  DeviceClient,
  DimensionerError,
  readToBuffer,
  readTransactionRecord,
  saveToFile,
  type CloudClientOptions,
  type DeviceClientOptions,
} from "../../src/index.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";

function failure(act: () => unknown): DimensionerError {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof DimensionerError, String(error));
    return error;
  }
  return assert.fail("nothing was thrown");
}

describe("the library", () => {
  const numbers = [Number.NaN, -1, Number.POSITIVE_INFINITY, 2 ** 31, "30", null] as unknown[];
  const wrong: readonly (readonly [string, unknown])[] = [
    ...numbers.flatMap((value) => [["timeoutMs", value] as const, ["maxWaitMs", value] as const]),
    ["timeoutMs", 0],
    ...[Number.NaN, -1, 1.5, "10", null].map((value) => ["queueLimit", value] as const),
  ];
  for (const [name, value] of wrong) {
    it(`refuses ${name} ${JSON.stringify(value) ?? String(value)} before anything is opened`, () => {
      const device = { address: "127.0.0.1:1", [name]: value } as DeviceClientOptions;
      const cloud = { baseUrl: "https://127.0.0.1:1", token: "t", [name]: value } as CloudClientOptions;
      for (const error of [failure(() => new DeviceClient(device)), failure(() => new CloudClient(cloud))]) {
        assert.equal(error.code, "ERR_CONFIG");
        assert.match(error.message, new RegExp(`option “${name}” is not valid: it must be`));
      }
    });
  }

  it("refuses a generation that there is not", () => {
    const error = failure(
      () =>
        new DeviceClient({ address: "127.0.0.1:1", generation: "oldest" } as never as DeviceClientOptions),
    );
    assert.equal(error.code, "ERR_CONFIG");
    assert.match(error.message, /one of newer, earlier, gateway/);
  });

  it("takes what is left undefined as not given", async () => {
    const left = { timeoutMs: undefined, queueLimit: undefined, maxWaitMs: undefined };
    const options = { address: "127.0.0.1:1", ...left } as never as DeviceClientOptions;
    await new DeviceClient(options).close();
  });

  describe("with a simulator", () => {
    let sim: Simulator;
    let cloud: CloudClient;
    let folder: string;
    const transactionId = "905865";
    let contentId: string;

    before(async () => {
      sim = await startSimulator();
      cloud = new CloudClient({ baseUrl: sim.cloud.origin, token: sim.cloud.token });
      folder = await mkdtemp(join(tmpdir(), "library-"));
      ({ contentId } = sim.cloud.addMedia(transactionId, {
        contentType: "video/mp4",
        generateBytes: 50_000,
      }));
    });
    after(async () => {
      await cloud.close();
      await sim.close();
      await rm(folder, { recursive: true });
    });

    it("saves a medium to a file, and reads it into memory", async () => {
      const saved = await saveToFile(await cloud.media(transactionId, contentId), { folder });
      assert.equal(saved.path, join(folder, `${transactionId}-${contentId}.mp4`));
      const read = await readToBuffer(await cloud.media(transactionId, contentId));
      assert.deepEqual([read.filename, read.contentType], [basename(saved.path), "video/mp4"]);
      assert.ok(read.payload.equals(await readFile(saved.path)));
      const named = { folder, suggestedName: "video" };
      const again = await saveToFile(await cloud.media(transactionId, contentId), named);
      assert.equal(again.path, join(folder, "video.mp4"));
    });

    it("says who sent what cannot be kept", async () => {
      const read = readToBuffer(await cloud.media(transactionId, contentId), { limitBytes: 100 });
      await assert.rejects(read, (error: DimensionerError) => {
        assert.equal(error.code, "ERR_TOO_LARGE");
        assert.equal(error.details.surface, "cloud");
        return true;
      });
    });

    it("refuses to wait for a time that is none", async () => {
      const waiting = cloud.waitForMedia(transactionId, { waitMs: Number.NaN });
      await assert.rejects(waiting, { code: "ERR_INPUT" });
    });
  });

  describe("readTransactionRecord", () => {
    const text = '{"id":9007199254740993,"errorCode":0,"barcodeReference":"B"}';

    it("reads text and bytes without a loss, and what JSON.parse has made", () => {
      for (const body of [text, Buffer.from(text), new TextEncoder().encode(text)]) {
        assert.equal(readTransactionRecord(body).transactionId, "9007199254740993");
      }
      const { ok, barcodeReference } = readTransactionRecord(JSON.parse(text));
      assert.deepEqual([ok, barcodeReference], [true, "B"]);
    });

    for (const body of ["", "[]", "{", '{"errorCode":0}', Buffer.from([0xff]), null, undefined, 7]) {
      it(`refuses ${JSON.stringify(body) ?? "undefined"} with a code`, () => {
        assert.equal(failure(() => readTransactionRecord(body)).code, "ERR_BAD_RESPONSE");
      });
    }
  });
});
