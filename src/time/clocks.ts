/**
 * Three clocks may disagree: that of this computer, which may be a Raspberry Pi after a power cut, those of the devices, and the cloud's.
 * Here is what is known of them: how far they are apart, and from when on that matters. What decides, deletes or shows by a time asks here.
 */
import { knownInstantOf } from "../rules/instants.ts";
import { readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** A time in whole seconds, and the way of an answer, are no difference of clocks. */
const agreeMs = 5_000;
/** From here on, people are told: nearer clocks choose no other day, tariff or record. */
const worthSayingMs = minuteMs;
/** Further apart than two time zones: one of the clocks is wrong, and none of the two decides alone. */
export const tooFarMs = 24 * hourMs;

/** Whether two times of the same moment are so far apart that one of their clocks is wrong. */
export function areTooFar(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) > tooFarMs;
}

/** Whether a difference of two clocks, or of two times in the wrong order, is worth a sentence. */
export function isWorthSaying(ms: number | null): ms is number {
  return ms !== null && Math.abs(ms) >= worthSayingMs;
}

/** A moment by the clock of the day, which may be set at any time, and by the clock that nobody sets where that is known. */
export interface Moment {
  readonly at: Date;
  readonly steady: SteadyTime | null;
}

/** A moment of this computer, which is known by both of its clocks. */
export interface OwnMoment extends Moment {
  readonly steady: SteadyTime;
}

export function momentNow(): OwnMoment {
  return { at: new Date(), steady: steadyTime() };
}

/** How long one moment is after another; by the clock that nobody sets, if it is known of both. */
export function msBetween(earlier: Moment, later: Moment): number {
  return earlier.steady !== null && earlier.steady.clock === later.steady?.clock
    ? later.steady.ms - earlier.steady.ms
    : later.at.getTime() - earlier.at.getTime();
}

/** What the clock of the day would have said at a moment if nobody had set it since `base`, or in between. */
export function dayTimeAsOf(base: Moment, moment: Moment): Date {
  return new Date(base.at.getTime() + msBetween(base, moment));
}

/** As HTTP has it (RFC 9110, 5.6.7): the obsolete forms, and what only looks like a date, tell no time. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/** What the Date of an answer says, in milliseconds; NaN if that is no date of HTTP. */
export function dateOfAnswer(date: unknown): number {
  return typeof date === "string" && httpDate.test(date) ? Date.parse(date) : NaN;
}

/**
 * The clock of a peer, as the Date headers of its answers have told it. Since then this computer's clock that nobody sets has gone on:
 * what is done to the clock of the day changes nothing.
 */
export class PeerClock {
  /** How far the peer's clock is ahead of the clock that nobody sets. */
  #aheadOfSteadyMs: number | null = null;
  /** What an answer said that was older than one before: the peer's clock was put back, or the answer is a copy that a proxy has kept. */
  #doubted: { readonly date: string; readonly aheadMs: number } | null = null;

  /** To be called when an answer begins. One from a cache, which says how old it is, tells no time; a proxy that has just asked says 0. */
  note({ date, age }: Readonly<Record<string, unknown>>): void {
    const peerMs = dateOfAnswer(date);
    if (Number.isNaN(peerMs) || (age !== undefined && age !== "0")) {
      return;
    }
    const given = { date: String(date), aheadMs: peerMs - steadyTime().ms };
    const before = this.#aheadOfSteadyMs;
    const isOlder = before !== null && given.aheadMs < before - agreeMs;
    // The clock of a peer that was put back goes on from there; a kept copy stays as it is.
    const goesOn =
      this.#doubted !== null &&
      this.#doubted.date !== given.date &&
      Math.abs(this.#doubted.aheadMs - given.aheadMs) <= agreeMs;
    if (!isOlder || goesOn) {
      [this.#aheadOfSteadyMs, this.#doubted] = [given.aheadMs, null];
    } else if (this.#doubted?.date !== given.date) {
      this.#doubted = given;
    }
  }

  /** How far the peer's clock is ahead of this computer's, in milliseconds; 0 if both agree, and null if it has told no time. */
  aheadMs(): number | null {
    if (this.#aheadOfSteadyMs === null) {
      return null;
    }
    const aheadMs = this.#aheadOfSteadyMs + steadyTime().ms - Date.now();
    return Math.abs(aheadMs) <= agreeMs ? 0 : aheadMs;
  }

  /** The same in whole seconds, as messages and statuses have it. */
  aheadSeconds(): number | null {
    const aheadMs = this.aheadMs();
    return aheadMs === null ? null : Math.round(aheadMs / 1_000);
  }

  /** The peer's time. If it has told none, agrees, or was never set, it is this computer's, which is more exact. */
  now(): Date {
    const own = new Date();
    const peer = new Date(own.getTime() + (this.aheadMs() ?? 0));
    return Number.isNaN(knownInstantOf(peer.toISOString())) ? own : peer;
  }
}

/** A time of a clock that nobody sets. */
export interface SteadyTime {
  /** What it counts from: only times with the same one can be compared. */
  readonly clock: string;
  readonly ms: number;
}

/** Linux counts from the start of the computer, so a restart of Node-RED goes on counting; elsewhere each process is on its own. */
const clock = startOfComputer() ?? randomUUID();

/** The time of this computer's clock that nobody sets: it tells how long ago something was, whatever is done to the clock of the day. */
export function steadyTime(): SteadyTime {
  return { clock, ms: Number(process.hrtime.bigint() / 1_000_000n) };
}

function startOfComputer(): string | null {
  try {
    return process.platform === "linux"
      ? readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()
      : null;
  } catch {
    return null;
  }
}
