import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "../archive/support.ts";
import { filesIn, readJson, sha256 } from "./archive.ts";
import { nodeNamed, readExample } from "../support/examples.ts";
import { Listener } from "./listener.ts";
import { startExamples, withEnv, type ExamplesRun } from "./several-examples.ts";

const begins = "Scan: packing begins";
const packed = "Scan: parcel is packed";
const fromTheCloud = [
  "AnnotatedColorImageJpeg.jpg",
  "ColorImageJpeg.jpg",
  "ColorVideoMp4.mp4",
  "DepthImage16Bit.bmp",
];

interface Package {
  readonly folder: string;
  readonly files: readonly string[];
  readonly manifest: Record<string, unknown>;
}

describe("the examples 01, 02, 03 and 12: from the scan to the archive", () => {
  let run: ExamplesRun;

  before(async () => {
    run = await startExamples(["01", "02", "03", "12"], {
      // A test has its buttons pressed faster than any scanner reads a code twice.
      adapt: (node) => ({
        ...withEnv(node, { IGNORE_REPEATS: "0" }),
        ...("ignoreRepeats" in node ? { ignoreRepeats: "0" } : {}),
      }),
    });
  });
  beforeEach(() => run.simulator.reset());
  after(() => run.close());

  const hear = async (example: string, button: string, debug: string): Promise<string> =>
    (await run.press(example, button, [debug])).get(debug) ?? "";

  /** Presses, and reads the package that came of it; each of its files is as the manifest says. */
  async function archived(example: string, button: string): Promise<Package> {
    const folder = await hear(example, button, "Archived");
    const manifest = await readJson(join(folder, "manifest.json"));
    for (const { path, sha256: hash } of manifest["items"] as { path: string; sha256: string }[]) {
      assert.equal(sha256(await readFile(join(folder, path))), hash, path);
    }
    return { folder, files: await filesIn(folder), manifest };
  }

  it("01 has the device's measurement, exact answer and images, and the cloud's media, in one package", async () => {
    await hear("01", begins, "Recording");
    const { folder, files, manifest } = await archived("01", packed);
    assert.equal(manifest["complete"], true);
    const own = files.filter((name) => !fromTheCloud.includes(name));
    assert.deepEqual(
      files.filter((name) => name.endsWith(".mp4")),
      ["ColorVideoMp4.mp4"],
    );
    assert.ok(own.filter((name) => name.endsWith(".jpg")).length >= 2, files.join(", "));
    const answer = await readJson(join(folder, "measurement.raw"));
    const result = await readJson(join(folder, "measurement.json"));
    assert.equal(result["source"], "newer-device");
    assert.equal(result["transactionReference"], "ORDER-1");
    assert.equal(answer["imageIdentifier"], result["imageIdentifier"]);
    const [transaction, ...others] = run.simulator.cloud.transactions;
    assert.deepEqual(others, []);
    assert.equal(manifest["transactionId"], transaction?.guid);
  });

  it("02 has all media, the measurement and the exact answer in one package", async () => {
    await hear("02", begins, "Recording");
    const { files, manifest } = await archived("02", packed);
    assert.equal(manifest["complete"], true);
    assert.deepEqual(files, [...fromTheCloud, "manifest.json", "measurement.json", "measurement.raw"]);
    assert.deepEqual(
      run.simulator.requestsTo("cloud", "/api/remotetrigger/").map(({ path }) => path.toLowerCase()),
      ["/api/remotetrigger/startrecording", "/api/remotetrigger/measure"],
    );
  });

  it("03 has the measurement and the exact answer of an earlier device", async () => {
    const { folder, files } = await archived("03", "Scan a parcel");
    assert.deepEqual(files, ["manifest.json", "measurement.json", "measurement.raw"]);
    const result = await readJson(join(folder, "measurement.json"));
    assert.deepEqual([result["source"], result["length"]], ["earlier-device", 33.5]);
  });

  it("say what to do when the measurement fails", async () => {
    run.simulator.newer.setParcel(null);
    run.simulator.earlier.setParcel(null);
    for (const [example, button] of [
      ["01", packed],
      ["02", packed],
      ["03", "Scan a parcel"],
    ] as const) {
      assert.match(await hear(example, button, "What to do"), /Reposition the parcel/, example);
    }
  });

  describe("12: one scanner", () => {
    const videos = (files: readonly string[]) => files.filter((name) => name.endsWith(".mp4"));
    /** What the cloud was asked to do. */
    const sent = () =>
      run.simulator
        .requestsTo("cloud", "/api/remotetrigger/")
        .map(({ path }) => path.split("/").at(-1)?.toLowerCase());
    /** Presses a button of which nothing may be heard. Node-RED takes what is pressed in its order. */
    const scanOnly = async (button: string) => {
      const { id } = nodeNamed(await readExample("12"), button);
      assert.equal((await run.nodeRed.adminFetch(`/inject/${id}`, { method: "POST" })).status, 200);
    };

    /** Lets the cloud answer to no command until the fault is removed. */
    const holdCloud = () =>
      run.simulator.faults.add({
        surface: "cloud",
        path: "/api/remotetrigger",
        times: 0,
        fault: { kind: "delay", ms: 600_000 },
      });

    it("starts the video with the first scan of a parcel, and measures and archives it with the second", async () => {
      assert.equal(await hear("12", "Scan parcel A", "Recording"), "ORDER-A");
      const { files, manifest } = await archived("12", "Scan parcel A");
      assert.equal(manifest["complete"], true);
      assert.equal(videos(files).length, 1);
      assert.equal(await hear("12", "Scan parcel B", "Recording"), "ORDER-B");
      assert.match((await archived("12", "Parcel is packed")).folder, /ORDER-B/);
    });

    it("records over no parcel that is being packed, and lets it be discarded", async () => {
      await hear("12", "Scan parcel A", "Recording");
      assert.match(
        await hear("12", "Scan parcel B", "What to do"),
        /^ORDER-A is still being packed: .* Nothing was done with ORDER-B\.$/,
      );
      await hear("12", "Discard the video", "Discarded");
      assert.match(await hear("12", "Parcel is packed", "What to do"), /^No parcel is being packed/);
      assert.deepEqual(run.simulator.newer.actions.starts, 1);
    });

    it("remembers a parcel only once its video runs, and until it is measured", async () => {
      run.simulator.newer.setMode("measurement-only");
      await hear("12", "Scan parcel A", "What to do");
      run.simulator.newer.setMode("video-with-measurement");
      await hear("12", "Scan parcel A", "Recording");
      run.simulator.newer.setParcel(null);
      assert.match(await hear("12", "Scan parcel A", "What to do"), /Reposition the parcel/);
      run.simulator.newer.setParcel("shoe-box");
      assert.equal((await archived("12", "Scan parcel A")).manifest["complete"], true);
    });

    it("counts a code once that is sent twice, once the video runs as well as once the parcel is measured", async () => {
      await run.redeploy((node) => withEnv(node, { IGNORE_REPEATS: "3600" }));
      await hear("12", "Scan parcel A", "Recording");
      await scanOnly("Scan parcel A");
      await hear("12", "Parcel is packed", "Archived");
      await scanOnly("Scan parcel A");
      await hear("12", "Discard the video", "Discarded");
      assert.deepEqual(sent(), ["startrecording", "measure", "cancelrecording"]);
      await run.redeploy();
    });

    it("starts one video of a parcel that is scanned again while the cloud is still starting it", async () => {
      const shipped = new Map((await readExample("12")).map((node) => [node.id, node["ignoreRepeats"]]));
      await run.redeploy((node) => ({
        ...node,
        ...(shipped.get(node.id) === undefined ? {} : { ignoreRepeats: shipped.get(node.id) }),
      }));
      const listener = new Listener();
      await listener.open(run.nodeRed.url, await readExample("12"));
      const held = holdCloud();
      await scanOnly("Scan parcel A");
      await scanOnly("Scan parcel A");
      run.simulator.faults.remove(held);
      assert.equal(await listener.next(), "Recording: ORDER-A");
      listener.close();
      await hear("12", "Discard the video", "Discarded");
      assert.deepEqual(sent(), ["startrecording", "cancelrecording"]);
      await run.redeploy();
    });

    it("refuses another parcel while the cloud is still starting the video of the first one", async () => {
      const listener = new Listener();
      await listener.open(run.nodeRed.url, await readExample("12"));
      const held = holdCloud();
      await scanOnly("Scan parcel A");
      await scanOnly("Scan parcel B");
      // Otherwise the cloud is asked for B once it has answered for A.
      run.simulator.faults.remove(held);
      assert.match(
        await listener.next(),
        /^What to do: ORDER-A is still being packed: .* Nothing was done with ORDER-B\.$/,
      );
      assert.equal(await listener.next(), "Recording: ORDER-A");
      listener.close();
      assert.deepEqual(sent(), ["startrecording"]);
      await hear("12", "Discard the video", "Discarded");
    });

    it("takes the next parcel after a start that has failed, or that a deploy has cut off", async () => {
      run.simulator.newer.setMode("measurement-only");
      await hear("12", "Scan parcel A", "What to do");
      run.simulator.newer.setMode("video-with-measurement");
      const held = holdCloud();
      await scanOnly("Scan parcel B");
      await until(() => sent().length === 2, "the cloud is asked to start the video of B");
      await run.redeploy();
      run.simulator.faults.remove(held);
      assert.equal(await hear("12", "Scan parcel A", "Recording"), "ORDER-A");
      await hear("12", "Discard the video", "Discarded");
    });
  });

  it("whose film was recorded over: the first parcel's package says so, and does not hold the other's", async () => {
    await hear("12", "Scan parcel A", "Recording");
    // Another flow starts the video of another parcel at the same device.
    await hear("02", begins, "Recording");
    const { files, manifest } = await archived("12", "Scan parcel A");
    assert.deepEqual(
      files.filter((name) => name.endsWith(".mp4")),
      [],
    );
    assert.match(JSON.stringify(manifest["recording"]), /"overwritten"/);
  });
});
