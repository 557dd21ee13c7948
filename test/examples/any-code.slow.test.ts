import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { freePort } from "../support/servers.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const sscc = "395212340000004173";

describe("the example 11: any code to a parcel", () => {
  let run: ExamplesRun;
  let tcpPort: number;

  before(async () => {
    tcpPort = await freePort();
    run = await startExamples(["11"], {
      adapt: (node) => {
        if (node.type === "tcp in") {
          return { ...node, port: String(tcpPort) };
        }
        // The tests press the same buttons as fast as they can.
        // A busy computer may read the second part of a scan long after the first one.
        return node.type === "dimensioner-scan" ? { ...node, dedupe: "0", gap: "60000" } : node;
      },
    });
  });
  beforeEach(() => run.simulator.reset());
  after(() => run.close());

  const said = async (button: string, debug: string) => (await run.press("11", button, [debug])).get(debug);

  it("measures by the SSCC of a GS1 label, and by a tracking number", async () => {
    assert.match(
      (await said("Scan a GS1 label", "Measured")) ?? "",
      new RegExp(`^${sscc}: 33\\.5 × 21 × 12\\.5 cm, 1\\.27 kg; label: 1\\.27 kg$`),
    );
    assert.match((await said("Scan a UPS label", "Measured")) ?? "", /^1Z5R89390357567127: .* kg; UPS$/);
    assert.equal(run.simulator.newer.actions.measures, 2);
  });

  it("measures nothing for a damaged label, and says what to do", async () => {
    assert.match(
      (await said("Scan a damaged label", "What to do")) ?? "",
      /the check digit of SSCC \(00\) is wrong\. Scan the label again\.$/,
    );
    assert.equal(run.simulator.newer.actions.measures, 0);
  });

  it("says that nothing was read, and measures nothing", async () => {
    assert.equal(await said("Scan nothing", "Scan again"), "Nothing was read. Scan again.");
    assert.equal(run.simulator.newer.actions.measures, 0);
  });

  it("starts and discards the video by control codes", async () => {
    run.simulator.newer.setMode("video-with-measurement");
    const started = run.simulator.nextRequest(({ path }) => path === "/api/v1/video/start");
    assert.equal(await said("Scan VIDEO_START", "Recording"), "start");
    assert.equal((await started).query, "", "a control code is no reference of a parcel");
    assert.equal(await said("Scan VIDEO_RESET", "Recording"), "cancel");
  });

  it("takes a scan by TCP that arrives in two parts", async () => {
    const measured = run.simulator.nextRequest(({ path }) => path === "/api/v1/measure");
    const scanner = connect(tcpPort, "127.0.0.1");
    scanner.setNoDelay(true);
    await once(scanner, "connect");
    scanner.write("]C100395212340000");
    scanner.write("0041733302000127\r\n");
    const { query } = await measured;
    assert.ok(query.includes(sscc), query);
    scanner.destroy();
    await once(scanner, "close");
  });
});
