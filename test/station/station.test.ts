import assert from "node:assert/strict";
import type { MeasureResult } from "../../src/model/shapes.ts";
import type { Run } from "../../src/station/state.ts";
import { receive } from "../../src/station/station.ts";
import { texts } from "../../src/station/texts.ts";
import type {
  BusyPhase,
  Command,
  CommandDone,
  Phase,
  Station,
  StationMessage,
} from "../../src/station/types.ts";
import { resultOf } from "../billing/support.ts";

type Outcome = "failed" | "not-sent" | "refused" | "unknown";

/** A station without Node-RED: each message comes a second after the one before. */
class TestStation {
  readonly sent: Command[] = [];
  readonly #stations: Run["stations"] = {};
  #now = Date.UTC(2026, 10, 25, 8);
  #ids = 0;

  /** Returns what was sent because of the message. */
  receive(msg: StationMessage): Run["out"] {
    this.#now += 1_000;
    const out: Run["out"] = { screen: [], video: [], measure: [], done: [], chart: [], evidence: [] };
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
        },
        t: texts.en,
        stations: this.#stations,
        peers: {},
        clouds: {},
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

  scan(transactionReference: string): Run["out"] {
    return this.#input({ topic: "scan", payload: transactionReference, transactionReference });
  }

  /** The scanner could not read anything: the scan node says so. */
  scanNothing(): Run["out"] {
    return this.#input({ topic: "scan", payload: "NoRead", control: "NO_READ" });
  }

  press(payload: string): Run["out"] {
    return this.#input({ topic: "button", payload });
  }

  #input(input: {
    topic: "scan" | "button";
    payload: string;
    transactionReference?: string;
    control?: string;
  }): Run["out"] {
    const from = { station: "dock-1", _client: { socketId: "screen" }, input: `input ${++this.#ids}` };
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

  /** The cloud reports the measurement of the last command. */
  report(): Run["out"] {
    const { job } = this.sent.at(-1) ?? assert.fail("no command");
    const { summary: _, ...figures } = this.measurement();
    const cloud = { source: "webhook", transactionId: "T", legacyId: null, deviceClientId: null } as const;
    const rest = { isManualDimension: false, cameraSerialId: null, barcodeReference: null, rotationAngle: 0 };
    return this.receive({
      topic: "record",
      payload: { ...figures, ...cloud, ...rest, customReference2: job },
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
        assert.equal(station.state.notice?.detail, "It failed.");
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

  it("goes on by itself when the cloud reports a measurement whose answer was lost, and archives it once", () => {
    const station = busy("measuring");
    station.answer("unknown");
    assert.equal(station.report().evidence.length, 1);
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
});
