import assert from "node:assert/strict";
import type { ArchivedPackage, MeasureResult } from "../../src/model/shapes.ts";
import { measure } from "../../src/station/node-properties.ts";
import type { Run } from "../../src/station/state.ts";
import { receive } from "../../src/station/station.ts";
import { texts } from "../../src/station/texts.ts";
import type {
  BusyPhase,
  Command,
  CommandDone,
  Naming,
  Phase,
  ScreenState,
  Station,
  StationMessage,
} from "../../src/station/types.ts";
import { resultOf } from "../billing/support.ts";

type Outcome = "failed" | "not-sent" | "refused" | "unknown";

/** A station without Node-RED: each message comes a second after the one before. */
class TestStation {
  readonly #settings: Partial<Run["settings"]>;
  readonly sent: Command[] = [];
  readonly #stations: Run["stations"] = {};
  readonly #peers: Run["peers"] = {};
  readonly #clouds: Run["clouds"] = {};
  #now = Date.UTC(2026, 10, 25, 8);
  #ids = 0;

  constructor(settings: Partial<Run["settings"]> = {}) {
    this.#settings = settings;
  }

  /** Returns what was sent because of the message. */
  receive(msg: StationMessage): Run["out"] {
    this.#now += 1_000;
    const out: Run["out"] = {
      screen: [],
      video: [],
      measure: [],
      done: [],
      chart: [],
      evidence: [],
      find: [],
      ask: [],
      name: [],
      picture: [],
    };
    receive(
      {
        now: this.#now,
        settings: {
          places: { "dock-1": { device: "Dock 1", cloud: "Cloud" } },
          language: "en",
          withSignIn: false,
          badge: "^OP-(.+)$",
          ignoreRepeatsMs: 0,
          forgottenAfterMs: 900_000,
          answerWithinMs: 70_000,
          badgeExample: "OP-ANNA",
          asksIfPacked: false,
          asks: "",
          askWithinMs: 3_000,
          readsAloud: false,
          ...this.#settings,
        },
        t: texts.en,
        stations: this.#stations,
        peers: this.#peers,
        clouds: this.#clouds,
        proof: "proof",
        newId: () => String(++this.#ids),
        clone: structuredClone,
        changed: new Set(),
        out,
      },
      msg,
    );
    this.sent.push(...out.video, ...out.measure);
    return out;
  }

  scan(transactionReference: string, dock = "dock-1"): Run["out"] {
    return this.#input({ topic: "scan", payload: transactionReference, transactionReference }, dock);
  }

  /** The scanner could not read anything: the scan node says so. */
  scanNothing(): Run["out"] {
    return this.#input({ topic: "scan", payload: "NoRead", control: "NO_READ" });
  }

  /** A printed code, as the scan node reads it. */
  scanCode(control: string): Run["out"] {
    return this.#input({ topic: "scan", payload: control, control });
  }

  /** The parcel is measured, and its package saved. */
  pack(reference: string): void {
    this.scan(reference);
    this.answer();
    this.scan(reference);
    this.answer();
    this.archived();
  }

  /** The package of the last measurement is saved. */
  archived(): Run["out"] {
    const { station, job, sentAt, parcel, proof } = this.sent.at(-1) ?? assert.fail("no command");
    const file = { path: "annotated.jpg", contentId: null, description: null, source: null };
    const files = [{ ...file, contentType: "image/jpeg", bytes: 1, sha256: "" }];
    const found = { packageId: `package of ${job}`, link: `/evidence/#package=${job}`, location: "" };
    const payload = { ...found, files, complete: true } as unknown as ArchivedPackage;
    return this.receive({ topic: "archived", station, job, sentAt, parcel, proof, payload });
  }

  /** The archive, or the system of the user, answers the question about a parcel that is not begun yet. */
  reply(
    topic: "packed" | "said",
    payload: unknown,
    error?: { message: string },
    station = "dock-1",
  ): Run["out"] {
    const { id } = this.#stations[station]?.inquiry ?? assert.fail("no question");
    const of = { station, job: id, sentAt: this.#now, parcel: id, proof: "proof" };
    return this.receive({ topic, ...of, payload, ...(error === undefined ? {} : { error }) });
  }

  /** The evidence node has added a number to a package, or not. */
  name(naming: Naming | undefined, error?: { message: string }): Run["out"] {
    const msg = naming ?? assert.fail("nothing is added");
    return this.receive({ ...msg, topic: "named", ...(error === undefined ? {} : { error }) });
  }

  /** Seconds go by. */
  wait(seconds: number): Run["out"] {
    this.#now += 1_000 * (seconds - 1);
    return this.receive({ topic: "tick" });
  }

  /** What a screen shows that is opened now. */
  get screen(): ScreenState {
    const from = { station: "dock-1", _client: { socketId: `screen ${++this.#ids}` } };
    const [told] = this.receive({ topic: "hello", ...from, payload: { isMade: true } }).screen;
    return told?.topic === "state" ? told.payload : assert.fail("no state");
  }

  get now(): number {
    return this.#now;
  }

  press(payload: string): Run["out"] {
    return this.#input({ topic: "button", payload });
  }

  #input(
    input: {
      topic: "scan" | "button";
      payload: string;
      transactionReference?: string;
      control?: string;
    },
    station = "dock-1",
  ): Run["out"] {
    const from = { station, _client: { socketId: "screen" }, input: `input ${++this.#ids}` };
    return this.receive({ ...from, at: this.#now, ...input });
  }

  /** The last command goes through, or fails with this outcome. */
  answer(outcome?: Outcome, changes: Partial<CommandDone> = {}): Run["out"] {
    const { topic, station, job, sentAt, parcel, proof } = this.sent.at(-1) ?? assert.fail("no command");
    const error = { message: "It failed.", cause: { outcome: outcome ?? null } };
    return this.receive({
      topic,
      station,
      job,
      sentAt,
      parcel,
      proof,
      payload: this.measurement(),
      ...(outcome === undefined ? {} : { error }),
      ...changes,
    });
  }

  /** The cloud reports the measurement of the last command, whose tag is in the custom reference that the measure node puts it into. */
  report(): Run["out"] {
    const { tag = null } = this.sent.at(-1) ?? assert.fail("no command");
    const { summary: _, ...figures } = this.measurement();
    const cloud = { source: "webhook", transactionId: "T", legacyId: null, deviceClientId: null } as const;
    const rest = { isManualDimension: false, cameraSerialId: null, barcodeReference: null, rotationAngle: 0 };
    return this.receive({
      topic: "record",
      payload: { ...figures, ...cloud, ...rest, [measure.tag]: tag },
    });
  }

  measurement(): MeasureResult {
    return { ...resultOf([18, 12, 9]), summary: "18 × 12 × 9 in" };
  }

  get state(): Station {
    return this.#stations["dock-1"] ?? assert.fail("no station");
  }

  get looks(): string {
    const { phase, notice } = this.state;
    return `${phase}: ${notice?.text ?? ""}`;
  }
}

/** A station whose last command, on its way, leads to this phase. */
function busy(phase: BusyPhase): TestStation {
  const station = new TestStation();
  station.scan("A");
  if (phase !== "starting") {
    station.answer();
    station.press(phase === "measuring" ? "measure" : "cancel");
  }
  assert.equal(station.state.phase, phase);
  return station;
}

describe("a packing station, without Node-RED", () => {
  it("says that nothing was read, and changes nothing, in whichever phase it is", () => {
    const station = new TestStation();
    const nothing = "Nothing was read. Scan again.";
    const changesNothing = () => {
      const { phase, parcel, lastScan, operator, shown } = structuredClone(station.state);
      const sent = station.sent.length;
      station.scanNothing();
      assert.equal(station.looks, `${phase}: ${nothing}`);
      assert.equal(station.sent.length, sent);
      const now = station.state;
      assert.deepEqual(
        [now.phase, now.parcel, now.lastScan, now.operator, now.shown],
        [phase, parcel, lastScan, operator, shown],
      );
    };
    station.scan("A");
    changesNothing();
    station.answer();
    changesNothing();
    station.scan("A");
    station.answer();
    changesNothing();
    station.scan("A");
    assert.equal(station.state.phase, "idle");
    changesNothing();
  });

  it("starts the video at the first scan, measures at the second, and is ready again at the confirmation", () => {
    const station = new TestStation();
    const phases: Phase[] = [];
    const [scan, answer] = [() => station.scan("A"), () => station.answer()];
    for (const happens of [scan, answer, scan, answer]) {
      happens();
      phases.push(station.state.phase);
    }
    assert.deepEqual(phases, ["starting", "recording", "measuring", "measured"]);
    const { done } = station.press("confirm");
    assert.deepEqual(
      done.map(({ topic, transactionReference, payload }) => [topic, transactionReference, payload?.summary]),
      [["confirmed", "A", "18 × 12 × 9 in, 1 lb"]],
    );
    assert.deepEqual(station.state.shift.parcels, 1);
    assert.equal(station.state.phase, "idle");
  });

  const outcomes: Record<BusyPhase, Record<Outcome, Phase>> = {
    starting: { "not-sent": "idle", refused: "idle", failed: "idle", unknown: "check" },
    measuring: { "not-sent": "recording", refused: "recording", failed: "recording", unknown: "check" },
    cancelling: { "not-sent": "recording", refused: "recording", failed: "recording", unknown: "check" },
  };
  for (const [phase, ends] of Object.entries(outcomes) as [BusyPhase, Record<Outcome, Phase>][]) {
    for (const [outcome, end] of Object.entries(ends) as [Outcome, Phase][]) {
      if (outcome === "failed" && phase !== "measuring") {
        continue;
      }
      it(`is in the phase ${end} after ${phase} has ended as ${outcome}, and says what to do`, () => {
        const station = busy(phase);
        station.answer(outcome);
        assert.equal(station.state.phase, end);
        assert.match(station.looks, /A/);
        assert.equal(station.state.problem?.detail, "It failed.");
      });
    }
  }

  it("does nothing with the scan of another parcel than the one that is being packed", () => {
    const station = busy("starting");
    station.answer();
    const { video, measure } = station.scan("B");
    assert.deepEqual([...video, ...measure], []);
    assert.match(station.looks, /^recording: Wrong parcel: you scanned B, but A is still being packed/);
  });

  it("does nothing with another parcel or a badge while it is asked about one, and says so", () => {
    const station = new TestStation({
      asksIfPacked: true,
      asks: "Orders",
      askWithinMs: 60_000,
      withSignIn: true,
    });
    station.scan("OP-ANNA");
    station.scan("A");
    const { find, ask } = station.scan("B");
    assert.deepEqual([...find, ...ask], []);
    assert.match(station.looks, /^asking: Wrong parcel: you scanned B, but A is still being packed/);
    station.scan("OP-BEN");
    assert.equal(station.looks, "asking: A is still being packed. Finish or cancel it first.");
    station.reply("packed", []);
    station.reply("said", { stop: "cancelled" });
    assert.deepEqual([station.looks, station.state.operator], ["idle: A: cancelled", "ANNA"]);
  });

  it("goes on by itself when the cloud reports a measurement whose answer was lost, and archives it once", () => {
    const station = busy("measuring");
    station.answer("unknown");
    const { job } = station.state.doubts[0] ?? assert.fail();
    const [message, ...others] = station.report().evidence;
    assert.deepEqual([others, message?.payload.customReference1, message?.job], [[], job, job]);
    // The archive is told that it is no reference of the parcel.
    assert.equal(Reflect.get(message ?? {}, "tag"), job);
    assert.match(station.looks, /^measured: A was measured: the cloud has reported it/);
    assert.equal(station.report().evidence.length, 0);
    assert.equal(station.answer().evidence.length, 0);
    assert.equal(station.state.history[0]?.packages.length, 1);
  });

  it("believes the record that came before its command was given up", () => {
    const station = busy("measuring");
    station.report();
    assert.equal(station.state.phase, "measuring");
    assert.equal(station.answer("unknown").evidence.length, 1);
    assert.equal(station.state.phase, "measured");
  });

  it("counts an input once, however often the screen repeats it, and never late", () => {
    const station = new TestStation();
    const from = { station: "dock-1", _client: { socketId: "screen" } };
    const scan = { ...from, topic: "scan", payload: "A", transactionReference: "A" } as const;
    const at = Date.UTC(2026, 10, 25, 8);
    station.receive({ ...scan, input: "one", at: at - 20_000 });
    assert.equal(station.state.phase, "idle");
    station.receive({ ...scan, input: "two", at });
    station.answer();
    station.receive({ ...scan, input: "two", at });
    assert.equal(station.state.phase, "recording");
    station.receive({ ...scan, input: "three", at });
    assert.equal(station.state.phase, "measuring");
  });

  it("takes no report that does not bring back what only the flow knows", () => {
    const station = busy("measuring");
    station.answer(undefined, { proof: "guessed" });
    assert.equal(station.state.phase, "measuring");
  });

  it("asks about a parcel that it has packed, and packs another box of it, packs it again or packs nothing", () => {
    const station = new TestStation({ asksIfPacked: true });
    const pack = () => {
      station.reply("packed", []);
      station.answer();
      station.scan("A");
      station.answer();
      station.press("confirm");
    };
    station.scan("A");
    pack();
    assert.equal(station.state.shift.parcels, 1);
    const before = station.sent.length;
    station.scan("A");
    assert.equal(
      station.looks,
      "question: A was packed at {time}. Another box of it, or start again?",
      "the screen writes the time",
    );
    assert.equal(station.state.notice?.time, station.state.history[0]?.at);
    station.scan("A");
    assert.equal(station.state.phase, "question");
    station.press("cancel");
    assert.equal(station.looks, "idle: A was not begun. What was packed before stays as it is.");
    station.scan("A");
    // Whoever has scanned it by mistake goes on with the next one.
    station.scan("B");
    station.reply("packed", []);
    assert.equal(station.state.parcel?.reference, "B");
    station.answer();
    station.press("cancel");
    station.answer();
    assert.equal(station.looks, "idle: B is cancelled. It was not counted. Its recording was discarded.");
    const done = (action: string) => {
      station.scan("A");
      assert.equal(
        station.sent.length,
        before + (action === "box" ? 2 : 4),
        "nothing was sent before the answer",
      );
      station.scanCode(action === "box" ? "STATION_CONFIRM" : "STATION_AGAIN");
      station.answer();
      assert.equal(station.sent.at(-1)?.note, action === "box" ? "Another box" : "Packed again");
      station.scan("A");
      station.answer();
      const [{ topic, repeat } = assert.fail()] = station.press("confirm").done;
      return [topic, repeat, station.state.shift.parcels];
    };
    assert.deepEqual(done("box"), ["confirmed", "box", 2]);
    assert.deepEqual(done("again"), ["confirmed", "again", 2], "in place of one that was counted");
  });

  it("asks the archive whether a parcel was packed, and takes neither a cancelled one nor a return for it", () => {
    const station = new TestStation({ asksIfPacked: true });
    const yesterday = "2026-11-24T17:52:00.000Z";
    const found = (changes: object) => [
      { packageId: "P", archivedAtUtc: yesterday, work: "packing", ...changes },
    ];
    const [question] = station.scan("A").find;
    assert.deepEqual([station.state.phase, question?.payload], ["asking", "A"]);
    station.reply("packed", found({}));
    assert.equal(station.looks, "question: A was packed on {time}. Another box of it, or start again?");
    assert.equal(station.state.notice?.time, Date.parse(yesterday));
    station.scan("A-RETURN");
    station.reply("packed", found({ work: "return" }));
    assert.equal(station.state.phase, "starting");
    station.answer();
    station.scan("A-RETURN");
    station.answer();
    station.archived();
    station.press("cancel");
    assert.match(
      station.looks,
      /^idle: A-RETURN is cancelled\. It was not counted\. What was measured stays/,
    );
    const { packageId } = station.state.history[0]?.packages[0] ?? assert.fail();
    station.scan("A-RETURN");
    station.reply("packed", found({ packageId }));
    assert.equal(station.state.phase, "starting", "only the cancelled one is in the archive");
  });

  it("knows that another station is packing the same parcel right now", () => {
    const docks = { "dock-1": { device: "Dock 1" }, "dock-2": { device: "Dock 2" } };
    const station = new TestStation({ asksIfPacked: true, places: docks });
    station.scan("A", "dock-2");
    station.reply("packed", [], undefined, "dock-2");
    station.scan("A");
    assert.equal(
      station.looks,
      "question: A has been packed at Dock 2 since {time}. Another box of it, or start again?",
    );
  });

  it("packs on when neither the archive nor the system answers within the deadline, and says so", () => {
    const station = new TestStation({ asksIfPacked: true, asks: "Orders" });
    station.scan("A");
    station.wait(2);
    assert.equal(station.state.phase, "asking");
    const { video } = station.wait(3);
    assert.deepEqual([video.length, station.state.phase], [1, "starting"]);
    assert.match(station.looks, /Your system has not said anything of A\. Pack it, unless/);
    assert.equal(station.state.problem?.detail, "The flow that ASK names has not answered in time.");
  });

  it("does not blame the system where the archive does not say whether the parcel was packed", () => {
    const station = new TestStation({ asksIfPacked: true });
    station.scan("A");
    station.reply("packed", undefined, { message: "The folder is away." });
    assert.match(station.looks, /^starting: It is not known whether A was packed before\. Pack it, unless/);
    assert.equal(station.state.problem?.detail, "The folder is away.");
    const late = new TestStation({ asksIfPacked: true });
    late.scan("A");
    late.wait(4);
    assert.match(late.looks, /^starting: It is not known whether A was packed before\./);
  });

  it("heeds what the system says too late, most of all a stop", () => {
    const station = new TestStation({ asks: "Orders" });
    const [{ job } = assert.fail()] = station.scan("A").ask;
    station.wait(4);
    station.answer();
    const of = { station: "dock-1", job, sentAt: 0, parcel: job, proof: "proof", topic: "said" } as const;
    station.receive({ ...of, payload: { note: "Fragile", color: "red" } });
    assert.deepEqual([station.state.phase, station.screen.parcel?.note], ["recording", "Fragile"]);
    station.receive({ ...of, payload: { stop: "cancelled" } });
    assert.equal(station.looks, "recording: A: cancelled");
    assert.equal(station.state.notice?.reason, "This answer came late. Cancel A, and put it aside.");
    station.scan("A");
    station.answer();
    const kept = "Stop: cancelled · Fragile";
    assert.deepEqual(
      [station.screen.parcel?.note, station.sent.at(-1)?.note],
      [kept, `${kept} · red`],
      "also after the next scan, and in the evidence",
    );
  });

  it("shows what the system says of a parcel already while the packer is asked about it", () => {
    const station = new TestStation({ asksIfPacked: true, asks: "Orders" });
    station.scan("A");
    station.reply("said", "Gift");
    station.reply("packed", [{ packageId: "P", archivedAtUtc: "2026-11-24T17:52:00Z", work: "packing" }]);
    assert.deepEqual(station.screen.asked, { reference: "A", note: "Gift", color: "" });
    station.press("startAgain");
    assert.deepEqual([station.screen.asked, station.screen.parcel?.note], [null, "Gift · Packed again"]);
  });

  it("stops where the system says so, and begins nothing", () => {
    const station = new TestStation({ asks: "Orders" });
    const [question] = station.scan("A").ask;
    assert.deepEqual([question?.target, question?.transactionReference], ["Orders", "A"]);
    station.reply("said", { stop: "cancelled and refunded: do not pack", note: "!" });
    assert.equal(station.looks, "idle: A: cancelled and refunded: do not pack");
    assert.equal(station.state.notice?.kind, "stop");
    assert.deepEqual([station.sent, station.state.parcel, station.state.inquiry], [[], null, null]);
    station.scan("A");
    station.reply("said", { stop: true });
    assert.equal(station.looks, "idle: A: do not pack");
  });

  const said: Record<string, readonly [payload: unknown, note: string, color: string]> = {
    "a text": ["Gift", "Gift", ""],
    "a note and a color": [{ note: " Gift ", color: "gold" }, "Gift", "gold"],
    "a color alone": [{ color: "#FFD700" }, "", "#FFD700"],
    "what is no color": [{ note: "Gift", color: "red; background: url(//evil.example)" }, "Gift", ""],
    nothing: [undefined, "", ""],
    "a stop that is none": [{ stop: false }, "", ""],
    "a stop that is none as a text": [{ note: "Gift", stop: "false" }, "Gift", ""],
    "a stop that is the text 0": [{ stop: "0" }, "", ""],
    "a stop that a database has as 0": [{ note: 4711, color: null, stop: 0 }, "4711", ""],
    "rows of a database": [[{ note: "Gift" }, { color: "gold" }, { note: "Gift" }], "Gift", "gold"],
    "no rows": [[], "", ""],
    "the text of JSON": [' {"note": "Gift", "color": "gold"}', "Gift", "gold"],
    "JSON that says nothing": ["null", "", ""],
    "a text in brackets": ["[Gift]", "[Gift]", ""],
    "too long a note": ["x".repeat(1_000), "x".repeat(500), ""],
  };
  const stops: Record<string, unknown> = {
    "a yes": { stop: true },
    "1, as a database has it": { stop: 1 },
    "the text of JSON": '{"stop": "do not pack"}',
    "rows of a database": [{ note: "Gift" }, { stop: "do not pack" }],
    "an object": { stop: { reason: "refunded" } },
    "a yes with the reason in the note": { stop: true, note: "do not pack" },
    "the text of a yes": [{ stop: "true" }],
    "the text of a yes, and the reason": { stop: "1", note: "do not pack" },
  };
  for (const [what, payload] of Object.entries(stops)) {
    it(`begins nothing where the system says stop as ${what}`, () => {
      const station = new TestStation({ asks: "Orders" });
      station.scan("A");
      station.reply("said", payload);
      assert.deepEqual([station.looks, station.sent], ["idle: A: do not pack", []]);
    });
  }

  const unclear: Record<string, unknown> = {
    "a list of texts": ["Gift"],
    "a number": 4711,
    bytes: Buffer.from('{"stop": true}'),
    "other columns": [{ Stop: "refunded" }],
    "the JSON of an error": '{"error": "no such table"}',
    "JSON that was cut off": '{"note": "Gift", "col',
    "a web page with a comment in front": "<!-- 502 --><html><body>502 Bad Gateway</body></html>",
    "a web page": "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
  };
  for (const [what, payload] of Object.entries(unclear)) {
    it(`packs on and says so where it does not understand what the system says: ${what}`, () => {
      const station = new TestStation({ asks: "Orders" });
      station.scan("A");
      station.reply("said", payload);
      assert.match(station.looks, /^starting: Your system has not said anything of A\./);
      assert.match(station.state.problem?.detail ?? "", /is not understood/);
      assert.equal(station.screen.parcel?.note, "");
    });
  }

  it("takes nothing for a note that came with a status of failure, unless it is meant for the station", () => {
    for (const [statusCode, payload, looks] of [
      [500, "Internal Server Error", "starting: Your system has not said anything of A."],
      [404, {}, "starting: Your system has not said anything of A."],
      [404, '{"stop": "no such order"}', "idle: A: no such order"],
      [200, "Gift", "starting"],
    ] as const) {
      const station = new TestStation({ asks: "Orders" });
      const [{ job } = assert.fail()] = station.scan("A").ask;
      const of = { station: "dock-1", job, sentAt: 0, parcel: job, proof: "proof", topic: "said" } as const;
      station.receive({ ...of, payload, statusCode });
      assert.ok(station.looks.startsWith(looks), station.looks);
    }
  });

  it("signs nobody in or out with a badge without a name", () => {
    const station = new TestStation({ badge: "^OP-(.*)$" });
    station.scan("OP-ANNA");
    for (const badge of ["OP-", "OP- "]) {
      station.scan(badge);
      assert.equal(station.looks, "idle: This code cannot be read. Scan it again.");
    }
    assert.equal(station.state.operator, "ANNA");
  });

  for (const [what, [payload, note, color]] of Object.entries(said)) {
    it(`shows and keeps what the system says: ${what}`, () => {
      const station = new TestStation({
        asks: "Orders",
        places: { "dock-1": { device: "Dock 1", work: "return" } },
      });
      station.scan("A");
      station.reply("said", payload);
      assert.deepEqual([station.screen.parcel?.note, station.screen.parcel?.color], [note, color]);
      station.answer();
      station.scan("A");
      const kept = [note, color].filter((one) => one !== "").join(" · ");
      assert.deepEqual([station.sent.at(-1)?.note ?? "", station.sent.at(-1)?.work], [kept, "return"]);
      station.answer("unknown");
      const [message] = station.report().evidence;
      assert.deepEqual(
        [message?.note ?? "", message?.work],
        [kept, "return"],
        "also where the cloud reports it",
      );
    });
  }

  it("adds the number of a label that is scanned after measuring, at once or when the package is saved", () => {
    const station = new TestStation();
    station.pack("A");
    station.press("label");
    assert.equal(station.screen.labelOf, "A");
    const [naming] = station.scan("1Z-1").name;
    assert.deepEqual([naming?.payload, naming?.numbers], [`package of ${naming?.job}`, ["1Z-1"]]);
    assert.deepEqual(
      [station.state.phase, station.state.parcel?.reference],
      ["measured", "A"],
      "not another parcel",
    );
    station.name(naming);
    assert.match(station.looks, /1Z-1 was added to A\./);
    station.press("label");
    assert.deepEqual(station.scan("1Z-1").name, []);
    assert.match(station.looks, /1Z-1 is what A has already\./, "it does not wait to be added");
    station.scanCode("STATION_LABEL");
    const [again] = station.scan("1Z-2").name;
    assert.deepEqual(again?.numbers, ["1Z-2"]);
    station.name(again, { message: "The database is away at db.example:5432." });
    assert.match(station.looks, /1Z-2 was not added to A\./);
    assert.deepEqual(station.screen.parcel?.labels, ["1Z-1"]);
    station.scan("B");
    station.answer();
    station.scan("B");
    station.answer();
    station.press("confirm");
    station.press("label");
    assert.deepEqual(station.scan("1Z-3").name, [], "its package is not saved yet");
    assert.match(station.looks, /1Z-3 is added to B as soon as its evidence is saved\./);
    assert.deepEqual(
      station.archived().name.map(({ numbers }) => numbers),
      [["1Z-3"]],
    );
    station.press("label");
    station.press("label");
    assert.deepEqual([station.screen.labelOf, station.screen.notice], ["", null], "it is taken back");
    station.press("label");
    station.wait(61);
    assert.deepEqual([station.screen.labelOf, station.screen.notice], ["", null], "nothing asks for it");
    station.scan("C");
    assert.equal(station.state.parcel?.reference, "C", "the button was forgotten");
  });

  it("says of a label who has scanned it, whoever is signed in when it is added", () => {
    const station = new TestStation({ withSignIn: true });
    station.scan("OP-ANNA");
    station.scan("A");
    station.answer();
    station.scan("A");
    station.answer();
    station.press("label");
    station.scan("1Z-1");
    station.scan("OP-BEN");
    assert.deepEqual(
      station.archived().name.map(({ numbers, person }) => [numbers, person]),
      [[["1Z-1"], "ANNA"]],
    );
  });

  it("leads to the evidence page, and to nothing where there is none", () => {
    const station = new TestStation();
    station.pack("A");
    const { job } = station.sent.at(-1) ?? assert.fail();
    assert.deepEqual(
      station.screen.history[0]?.packages.map(({ link }) => link),
      [`/evidence/#package=${job}`],
    );
  });

  it("tells packers nothing of addresses and settings: these are for the supervisor", () => {
    const secret = "http://10.0.0.7:8101: switch on Enable Local API in the portal";
    const codes = ["ERR_UNREACHABLE", "ERR_NOT_FOUND", "ERR_EXPIRED", "ERR_CONFIG", "ERR_MEASURE_FAILED"];
    for (const code of codes) {
      for (const outcome of ["not-sent", "failed", "unknown"] as const) {
        const station = busy("measuring");
        station.answer(undefined, { error: { code, message: secret, cause: { outcome } } });
        const shown = JSON.stringify(station.screen);
        assert.doesNotMatch(shown, /10\.0\.0\.7|portal/, `${code} ${outcome}`);
        assert.equal(station.state.problem?.detail, secret);
      }
    }
    const station = new TestStation();
    const source = { type: "dimensioner-device", name: "Dock 1" };
    station.scan("A");
    station.receive({ topic: "status", status: { fill: "red", text: secret, source } });
    station.receive({ topic: "cloud", cloud: "Cloud", error: { message: secret, code: "ERR_UNAUTHORIZED" } });
    const { device, cloud } = station.screen;
    assert.deepEqual(
      [device, cloud],
      [
        { ok: false, text: "not reachable" },
        { ok: false, text: "does not work; call your supervisor" },
      ],
    );
  });

  it("says how a badge looks until somebody has signed in, and nothing that BADGE would refuse", () => {
    const station = new TestStation({ withSignIn: true });
    assert.equal(station.screen.badge, "OP-ANNA");
    station.scan("OP-BEN");
    station.scan("OP-BEN");
    assert.deepEqual([station.screen.operator, station.screen.badge], ["", ""]);
    assert.equal(new TestStation({ withSignIn: true, badgeExample: "ANNA" }).screen.badge, "");
  });

  it("ends the time of a shift when the packer signs out, and begins one after a night", () => {
    const station = new TestStation({ withSignIn: true });
    station.scan("OP-ANNA");
    const { since } = station.screen.shift;
    station.wait(60);
    station.scan("OP-ANNA");
    const until = station.now;
    station.wait(600);
    assert.deepEqual([station.screen.shift.since, station.screen.shift.until], [since, until]);
    station.scan("OP-ANNA");
    station.pack("A");
    station.press("confirm");
    assert.equal(station.screen.shift.parcels, 1);
    station.wait(10 * 3_600);
    station.scan("B");
    assert.deepEqual([station.screen.shift.parcels, station.screen.shift.until], [0, null]);
    assert.ok(station.now - station.screen.shift.since < 60_000);
  });
});
