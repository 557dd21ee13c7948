import assert from "node:assert/strict";
import type { Simulator } from "../../src/simulator/index.ts";
import type { Shown, StationPage } from "./station-page.ts";

/** What takes the focus from the scan field, at a busy table. */
const interruptions = [
  `document.querySelector('[data-test="cancel"]')?.focus()`,
  `document.querySelector(".packing-shift canvas, .packing-shift")?.click()`,
  `document.activeElement.blur()`,
  `document.querySelector(".packing .link")?.focus()`,
  `document.getElementById("packing-scan").focus()`,
];

/** What a packer does at one station, and what its screen shows meanwhile. */
export class Shift {
  readonly #simulator: Simulator;
  /** Parcels of which the screen has asked what the device has done. */
  readonly asked = new Set<string>();
  /** What the screen showed that was not true. */
  readonly wrong: string[] = [];
  /** From Enter until the screen shows that a parcel is recorded, in milliseconds. */
  readonly delays: number[] = [];
  readonly #recorded = new Set<string>();
  #count = 0;

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  /** Compares what the screen shows with what the device has done. */
  look({ phase, reference, count, doubt, sinceEnterMs }: Shown): void {
    const say = (problem: string) => this.wrong.push(`${phase} ${reference}, ${count} parcels: ${problem}`);
    const recording = this.#simulator.newer.state.recording?.references.transactionReference ?? null;
    if (phase === "recording" && !doubt && recording !== reference) {
      say(`the device records ${recording ?? "nothing"}`);
    }
    if (phase === "recording" && !this.#recorded.has(reference)) {
      this.#recorded.add(reference);
      this.delays.push(sinceEnterMs);
    }
    if (phase === "measured" && this.measuresOf(reference) === 0) {
      say("the device has not measured it");
    }
    if (phase === "idle" && recording !== null) {
      say(`the device records ${recording}`);
    }
    if (phase === "check" && !this.asked.has(reference)) {
      say("nothing has gone wrong with it");
    }
    const parcels = Number(count);
    if (parcels !== this.#count && parcels !== this.#count + 1) {
      say(`it were ${this.#count} before`);
    }
    this.#count = parcels;
  }

  /** How often the device has measured a parcel, whether its answer came or not. */
  measuresOf(reference: string): number {
    return this.#simulator.cloud.transactions.filter(
      ({ kind, transactionReference }) => kind === "measurement" && transactionReference === reference,
    ).length;
  }

  /** Packs parcels one after the other: the scan of the next one confirms the one before. */
  async pack(
    station: StationPage,
    references: readonly string[],
    special: Readonly<Record<number, (reference: string) => Promise<void>>> = {},
  ): Promise<void> {
    for (const [number, reference] of references.entries()) {
      const interruption = interruptions[number % interruptions.length];
      await (special[number]?.(reference) ?? station.pack(reference, interruption));
      await station.shows("reference", reference);
    }
    await station.press("confirm");
    await station.phase("idle");
    assert.equal(Number(await station.text("count")), references.length);
  }
}

/** Resolves for each of a number of callers when the last one has called. */
export function meeting(callers: number): () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let left = callers;
  return () => {
    left -= 1;
    if (left === 0) {
      all.resolve();
    }
    return all.promise;
  };
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
