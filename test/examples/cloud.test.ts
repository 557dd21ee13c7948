import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { filesIn, readJson, served, sha256 } from "./archive.ts";
import { startExample, type ExampleRun } from "./one-example.ts";

const barcode = "395212340000004173";

describe("example 02: through the cloud, scan to archive", function () {
  this.timeout(60_000);
  let run: ExampleRun;

  before(async () => {
    run = await startExample({ example: "02" });
  });
  beforeEach(() => run.simulator.reset());
  after(() => run.close());

  it("archives the result, the exact answer and all media of the transaction", async () => {
    const { simulator, cloudProxy } = run;
    const folder = (await run.scan({ until: ["Archived"] })).get("Archived") ?? "";
    assert.equal(basename(dirname(folder)), barcode);
    assert.deepEqual(await filesIn(folder), [
      "AnnotatedColorImageJpeg.jpg",
      "ColorImageJpeg.jpg",
      "ColorVideoMp4.mp4",
      "DepthImage16Bit.bmp",
      "answer.json",
      "result.json",
    ]);
    const result = await readJson(join(folder, "result.json"));
    assert.equal(result["ok"], true);
    assert.equal(result["source"], "cloud");
    assert.ok(cloudProxy.hasServed(await readFile(join(folder, "answer.json"))));

    const [transaction, ...others] = simulator.cloud.transactions;
    assert.ok(transaction !== undefined && others.length === 0);
    assert.equal(result["transactionId"], transaction.id);
    for (const { contentId, contentType, description } of transaction.media) {
      const file = join(folder, `${description}.${contentType.replace(/^.*\//, "").replace("jpeg", "jpg")}`);
      const media = `${simulator.cloud.origin}/api/transactionmedia/${transaction.id}/${contentId}`;
      const there = sha256(await served(media, simulator.cloud.token));
      assert.equal(sha256(await readFile(file)), there, description);
    }
  });

  it("sends each trigger once", async () => {
    await run.scan({ until: ["Archived"] });
    const triggers = run.simulator.requestsTo("cloud", "/api/remotetrigger/");
    assert.deepEqual(
      triggers.map(({ path }) => path.toLowerCase()),
      ["/api/remotetrigger/startrecording", "/api/remotetrigger/measure"],
    );
  });

  it("says that nobody knows whether a device that did not answer has measured", async () => {
    const measure = "/api/remotetrigger/measure";
    run.simulator.faults.add({ surface: "cloud", path: measure, fault: { kind: "status", status: 504 } });
    const said = await run.scan({ until: ["Outcome unknown: check the table before scanning again"] });
    assert.match([...said.values()].join(), /ABCD2345/);
    assert.equal(run.simulator.requestsTo("cloud", measure).length, 1);
  });
});
