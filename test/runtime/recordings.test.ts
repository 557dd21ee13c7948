import assert from "node:assert/strict";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import {
  type MeasureOutcome,
  type RecordingStatus,
  Recordings,
} from "../../src/runtime/config/recordings.ts";

const dock = "http://192.168.1.40";

/** One recorder at a dock, driven by the references of its commands. */
class Dock {
  readonly recordings = new Recordings();
  readonly ended: string[] = [];
  #clock = 0;

  start(reference: string | null, machine = dock): void {
    this.#clock++;
    const start = { transactionReference: reference, at: `t${this.#clock}` };
    this.recordings.started(machine, start, () => this.ended.push(String(reference)));
  }

  measure(
    reference: string | null,
    result: MeasureOutcome = { ok: true, errorCode: 0 },
  ): RecordingStatus | null {
    return this.recordings.measured(dock, reference, result);
  }

  /** A command whose answer never came. */
  async lost(startFor?: string | null): Promise<void> {
    const facts = { surface: "newer-device", operation: "video start", outcome: "unknown" } as const;
    const error = new DimensionerError("timeout", facts, { host: "dock", seconds: 1 });
    await assert.rejects(
      this.recordings.track(dock, () => Promise.reject(error), startFor),
      error,
    );
  }
}

describe("whose recording a measurement ends", () => {
  it("is the parcel's own where it was started for it", () => {
    const station = new Dock();
    station.start("A");
    assert.deepEqual(station.measure("A"), { transactionReference: "A", at: "t1", recording: "own" });
    assert.equal(station.measure("A"), null, "the recording is over");
    assert.deepEqual(station.ended, ["A"]);
  });

  it("is not known where nobody has started one here", () => {
    assert.equal(new Dock().measure("A"), null);
  });

  it("was overwritten where another start came before the measurement", () => {
    const station = new Dock();
    station.start("A");
    station.start("B");
    assert.deepEqual(station.ended, ["A"]);
    const by = { transactionReference: "B", at: "t2" };
    assert.deepEqual(station.measure("A"), {
      transactionReference: "A",
      at: "t1",
      recording: "overwritten",
      by,
    });
    assert.deepEqual(
      station.measure("B"),
      { transactionReference: "B", at: "t2", recording: "taken" },
      "the device has linked it to the first parcel",
    );
  });

  it("was overwritten also where the other parcel was measured first", () => {
    const station = new Dock();
    station.start("A");
    station.start("B");
    assert.equal(station.measure("B")?.recording, "own");
    assert.equal(station.measure("A")?.recording, "overwritten");
    assert.equal(station.measure("A"), null, "it was told once");
  });

  it("stays its own where it is started again for the same parcel", () => {
    const station = new Dock();
    station.start("A");
    station.start("A");
    assert.deepEqual(station.measure("A"), { transactionReference: "A", at: "t2", recording: "own" });
  });

  it("is another's where another parcel is measured", () => {
    const station = new Dock();
    station.start("A");
    assert.deepEqual(station.measure("B"), { transactionReference: "A", at: "t1", recording: "other" });
    assert.equal(station.measure("A")?.recording, "taken");
    assert.equal(station.measure("A"), null, "it was told once");
  });

  it("waits through failed measurements, and can be overwritten there", () => {
    const station = new Dock();
    station.start("A");
    assert.equal(station.measure("A", { ok: false, errorCode: 4 }), null);
    assert.equal(station.measure("A")?.recording, "own");
    station.start("A");
    station.measure("A", { ok: false, errorCode: 4 });
    station.start("B");
    assert.equal(station.measure("A")?.recording, "overwritten");
  });

  it("cannot be told after a measurement that the device calls a success, but that has no result", () => {
    const station = new Dock();
    const unclear = (): void => assert.equal(station.measure("A", { ok: false, errorCode: 0 }), null);
    station.start("A");
    unclear();
    assert.deepEqual(station.ended, ["A"]);
    assert.deepEqual(station.measure("A"), { transactionReference: "A", at: "t1", recording: "unknown" });
    assert.equal(station.measure("A"), null, "it was told once");
    station.start("A");
    unclear();
    assert.equal(station.measure("B")?.recording, "unknown", "it may have got what waited for a success");
    assert.equal(station.measure("A")?.recording, "taken", "whichever of the two measurements got it");
    station.start("A");
    unclear();
    station.start("B");
    assert.equal(station.measure("B")?.recording, "own", "a start replaces what waited");
    station.start("A");
    station.recordings.stopped(dock, null);
    unclear();
    assert.equal(station.recordings.savedVideoOf(dock, "A")?.recording, "own", "a stop had ended it");
  });

  it("is gone where it was cancelled", () => {
    const station = new Dock();
    station.start("A");
    station.recordings.cancelled(dock);
    assert.deepEqual(station.measure("A"), { transactionReference: "A", at: "t1", recording: "cancelled" });
    assert.deepEqual(station.ended, ["A"]);
  });

  it("cannot be told where the start or the measurement has no reference", () => {
    const station = new Dock();
    station.start(null);
    assert.equal(station.measure("A")?.recording, "unknown");
    station.start("A");
    assert.equal(station.measure(null)?.recording, "unknown");
    assert.equal(station.measure("A")?.recording, "unknown", "the unnamed parcel may have been this one");
  });

  it("cannot be told after a command of which nobody knows what it did", async () => {
    const station = new Dock();
    station.start("A");
    await station.lost("B");
    assert.equal(station.measure("A")?.recording, "unknown");
    station.start("A");
    await station.lost();
    assert.equal(station.measure("A")?.recording, "unknown");
    station.start("A");
    await assert.rejects(station.recordings.track(dock, () => Promise.reject(new Error("refused"))));
    assert.equal(station.measure("A")?.recording, "own", "a command that was refused has changed nothing");
  });

  it("is that of its own machine alone", () => {
    const station = new Dock();
    station.start("A");
    station.start("B", "http://192.168.1.41");
    assert.equal(station.measure("A")?.recording, "own");
  });

  it("is told of a stop too, and the next start takes nothing away from it", () => {
    const station = new Dock();
    station.start("A");
    assert.equal(station.recordings.stopped(dock, null)?.transactionReference, "A");
    station.start("B");
    assert.equal(station.measure("A")?.recording, "other", "the stopped one has a transaction of its own");
    station.start("A");
    station.start("B");
    assert.equal(station.recordings.stopped(dock, "A")?.recording, "overwritten");
    assert.equal(station.recordings.savedVideoOf(dock, "B")?.recording, "own");
    assert.equal(station.recordings.savedVideoOf(dock, "A")?.recording, "overwritten");
  });

  it("is forgotten beyond a hundred lost ones, the oldest first", () => {
    const station = new Dock();
    for (let parcel = 0; parcel <= 102; parcel++) {
      station.start(`parcel ${parcel}`);
    }
    station.measure("parcel 102");
    assert.equal(station.measure("parcel 1"), null);
    assert.equal(station.measure("parcel 2")?.recording, "overwritten");
    assert.equal(station.measure("parcel 101")?.recording, "overwritten");
  });
});
