import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { openEditorEvents } from "../../tools/demo/editor-events.ts";
import { filesIn, readJson, served, sha256 } from "./archive.ts";
import { startExample, type ExampleRun } from "./one-example.ts";

const archived = ["Archived: measurement and pictures", "Archived: video"];
const barcode = "395212340000004173";

describe("example 01: newer device, scan to archive", function () {
  this.timeout(60_000);
  let run: ExampleRun;

  before(async () => {
    run = await startExample({ example: "01" });
  });
  beforeEach(() => run.simulator.reset());
  after(() => run.close());

  it("archives the result, the exact answer, both pictures and the video of one scan", async () => {
    const { simulator, newerProxy } = run;
    const said = await run.scan({ until: archived });
    const folder = said.get("Archived: measurement and pictures") ?? "";
    assert.equal(basename(dirname(folder)), barcode);
    assert.deepEqual(await filesIn(folder), [
      "annotated.jpg",
      "answer.json",
      "depth.bmp",
      "result.json",
      "video.mp4",
    ]);

    const result = await readJson(join(folder, "result.json"));
    assert.equal(result["ok"], true);
    assert.equal(result["source"], "newer-device");
    assert.equal(result["transactionReference"], barcode);
    assert.equal(result["customReference1"], basename(folder));
    assert.ok(newerProxy.hasServed(await readFile(join(folder, "answer.json"))));

    const pictures = `${simulator.newer.origin}/api/v1/image`;
    const image = String(result["imageIdentifier"]);
    for (const [file, kind] of [
      ["annotated.jpg", "annotatedcolor"],
      ["depth.bmp", "depth"],
    ] as const) {
      const shown = await served(`${pictures}/${kind}/${image}`);
      assert.equal(sha256(await readFile(join(folder, file))), sha256(shown), file);
    }

    const [transaction] = simulator.cloud.transactions;
    const video = transaction?.media.find(({ contentType }) => contentType === "video/mp4");
    assert.ok(transaction !== undefined && video !== undefined);
    const media = `${simulator.cloud.origin}/api/transactionmedia/${transaction.id}/${video.contentId}`;
    const filmed = sha256(await served(media, simulator.cloud.token));
    assert.equal(sha256(await readFile(join(folder, "video.mp4"))), filmed);
    const { sha256: told } = JSON.parse(said.get("Archived: video") ?? "null") as { sha256: string };
    assert.equal(told, filmed);
  });

  it("sends each command once, with the references", async () => {
    const { simulator } = run;
    await run.scan({ until: archived });
    const [start, ...moreStarts] = simulator.requestsTo("newer", "/api/v1/video");
    const [measure, ...moreMeasures] = simulator.requestsTo("newer", "/api/v1/measure");
    assert.deepEqual([...moreStarts, ...moreMeasures], []);
    assert.equal(start?.path, "/api/v1/video/start");
    for (const { query } of [start, measure].filter((one) => one !== undefined)) {
      const references = new Map(
        [...new URLSearchParams(query)].map(([key, one]) => [key.toLowerCase(), one]),
      );
      assert.equal(references.get("transactionreference"), barcode);
      assert.match(references.get("customreference1") ?? "", /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/);
    }
  });

  it("does not save the video again when the cloud reports a measurement twice", async () => {
    const { simulator, nodeRed } = run;
    const said = await run.scan({ until: archived });
    const [transaction] = simulator.cloud.transactions;
    assert.ok(transaction !== undefined);
    const { guid, transactionReference, customReference1 } = transaction;
    const heard = new EventEmitter();
    const editorEvents = await openEditorEvents(
      nodeRed.url,
      (event) => event.kind === "debug" && heard.emit("debug", event.text),
      () => heard.emit("error", new Error("Node-RED has ended.")),
    );
    const again = once(heard, "debug");
    await fetch(`${nodeRed.url}/dimensioner/transaction`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: guid, errorCode: 0, transactionReference, customReference1 }),
    });
    assert.deepEqual(await again, [said.get("Archived: video")]);
    editorEvents.close();
    const folder = said.get("Archived: measurement and pictures") ?? "";
    assert.equal((await filesIn(folder)).length, 5);
  });

  it("keeps a barcode that is no file name inside the archive", async () => {
    const said = await run.scan({ barcode: "../a/..\\b:c\r\n", until: archived });
    const folder = said.get("Archived: measurement and pictures") ?? "";
    assert.equal(dirname(dirname(folder)), run.archive);
    assert.equal((await filesIn(folder)).length, 5);
    assert.equal((await readJson(join(folder, "result.json")))["transactionReference"], "../a/..\\b:c");
  });

  it("keeps the video of a measurement that failed, and says what to do", async () => {
    run.simulator.newer.setParcel(null);
    const said = await run.scan({
      until: [
        "Measurement failed: reposition the parcel and scan again",
        "Saved: video of the failed attempt",
      ],
    });
    assert.match([...said.values()].join("\n"), /measurement failed/i);
    const saved = JSON.parse(said.get("Saved: video of the failed attempt") ?? "null") as { path: string };
    const video = Buffer.concat([...(run.simulator.newer.readSavedVideo() ?? [])]);
    assert.ok(video.length > 0);
    assert.equal(sha256(await readFile(saved.path)), sha256(video));
  });

  it("tells outcomes apart", async () => {
    const { faults } = run.simulator;
    faults.add({ surface: "newer", path: "/api/v1/measure", fault: { kind: "reset" } });
    // It did measure: the cloud reports it, and the video is kept although the answer was lost.
    const unknown = await run.scan({
      until: ["Outcome unknown: check the table before scanning again", "Archived: video"],
    });
    assert.match([...unknown.values()].join(), /connection .* was lost/);
    run.simulator.newer.setMode("measurement-only");
    const refused = await run.scan({ until: ["Nothing happened: correct it and scan again"] });
    assert.match([...refused.values()].join(), /operating mode/);
    run.simulator.newer.setMode("video-with-measurement");
    faults.add({ surface: "newer", path: "/api/v1/image", times: 0, fault: { kind: "status", status: 404 } });
    const unread = await run.scan({
      until: ["Reading or saving failed: no need to measure again", "Archived: video"],
    });
    assert.match([...unread.values()].join(), /does not have this image/);
  });
});
