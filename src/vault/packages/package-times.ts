/**
 * The times of a package come from the clocks of a device, of one or more computers and of a time stamp server. Some cannot both be true,
 * and then one of these clocks was wrong: what hangs on the times of this package is in doubt.
 */
import type { ArchiveNote, PackageTime, TimesInDoubt } from "../../model/archive-reports.ts";
import { instantOf, isUnset } from "../../rules/instants.ts";
import { dayMs, areTooFar, isWorthSaying } from "../../time/clocks.ts";
import type { PackageProof } from "../log/package-proof.ts";
import type { Manifest } from "./manifest.ts";

/** No job waits for its media for so long, and hardly anybody archives what was measured before that. */
const longestWaitMs = 180 * dayMs;

type Told = readonly [what: PackageTime, at: string | null | undefined];
type Dated = Pick<Manifest, "measuredBy" | "recordedBy" | "recording" | "times">;

/** Which times of a package do not fit together, each with the one that it contradicts; also those of its log and its time stamp, if they are known. */
export function timesInDoubt(
  { measuredBy, recordedBy, recording, times }: Dated,
  proof?: Pick<PackageProof, "first" | "later">,
): TimesInDoubt[] {
  const measured: Told = ["measured", times.deviceUtc ?? times.deviceLocal];
  const [accepted, archived]: [Told, Told] = [
    ["accepted", times.accepted],
    ["archived", times.archived],
  ];
  const starts = [recording?.at, recording?.by?.at].map((at): Told => ["recorded", at]);
  const stop: Told = ["recorded", measuredBy?.videoAt];
  // A recording beside a measurement may have been made after it.
  const isBeside = recordedBy !== undefined || measuredBy?.videoAt !== undefined;
  const logged = (proof?.later ?? []).map(({ event }): Told => ["logged", event.at]);
  const stamped: Told = ["stamped", proof?.first?.verified.at.toISOString()];
  const sameMoment: readonly [Told, Told] = [["measuredLocal", times.deviceLocal], measured];
  const pairs: readonly (readonly [Told, Told])[] = [
    ...[...starts, stop, measured, accepted].map((one) => [one, archived] as const),
    ...[...starts, stop, measured].map((one) => [one, accepted] as const),
    ...(isBeside ? [] : starts.map((one) => [one, measured] as const)),
    ...[...logged, stamped, ["retained", times.retainedUntil] as const].map(
      (one) => [archived, one] as const,
    ),
  ];
  const found = pairs.filter(([first, second]) => isLater(first, second) || isOther(first, second));
  const all = isSameMoment(...sameMoment) ? found : [...found, sameMoment];
  // One that is later than several is said once.
  const said = new Map(all.toReversed().map((pair) => [pair[0].join(" "), pair]));
  return [...said.values()].toReversed().map(([[first, firstAt], [second, secondAt]]) => ({
    first,
    firstAt: String(firstAt),
    second,
    secondAt: String(secondAt),
  }));
}

function isLater([, firstAt]: Told, [, secondAt]: Told): boolean {
  const afterMs = instantOf(firstAt ?? "") - instantOf(secondAt ?? "");
  return afterMs > 0 && isWorthSaying(afterMs);
}

/** Whether the first time is of a clock that was never set, or it was too long before the other one. */
function isOther([first, firstAt]: Told, [second, secondAt]: Told): boolean {
  const [firstMs, thenMs] = [instantOf(firstAt ?? ""), instantOf(secondAt ?? "")];
  if (second !== "archived" || Number.isNaN(firstMs) || Number.isNaN(thenMs)) {
    return false;
  }
  return isUnset(String(firstAt)) || (first !== "recorded" && thenMs - firstMs > longestWaitMs);
}

/** Whether two texts of the same moment agree; one without a zone may be hours away. */
function isSameMoment([, local]: Told, [, utc]: Told): boolean {
  const [localMs, utcMs] = [instantOf(local ?? ""), instantOf(utc ?? "")];
  const hasZone = /(?:z|[+-]\d\d:?\d\d)$/i.test((local ?? "").trim());
  return (
    Number.isNaN(localMs) ||
    Number.isNaN(utcMs) ||
    !(hasZone ? isWorthSaying(localMs - utcMs) : areTooFar(localMs, utcMs))
  );
}

const words: Readonly<Record<PackageTime, string>> = {
  recorded: "recorded",
  measured: "measured by the device's clock",
  measuredLocal: "measured by the device's clock, local time",
  accepted: "received",
  archived: "archived",
  logged: "changed afterwards, as the log says",
  stamped: "signed by a time stamp server",
  retained: "to be kept until",
};

/** More packages than these are counted: a clock that was wrong for a week is no news a thousand times. */
const mostNoted = 100;

/** Notes packages whose times do not fit together. */
export class TimeNotes {
  readonly #notes: ArchiveNote[];
  #count = 0;

  constructor(notes: ArchiveNote[]) {
    this.#notes = notes;
  }

  add(path: string, times: TimesInDoubt[]): void {
    if (times.length > 0) {
      this.#count += 1;
      if (this.#count <= mostNoted) {
        this.#notes.push(noteOfTimes(path, times));
      }
    }
  }

  end(): void {
    const more = this.#count - mostNoted;
    if (more > 0) {
      const text = `the times of ${more} more packages do not fit together, either`;
      this.#notes.push({ kind: "times", path: "", text });
    }
  }
}

export function noteOfTimes(path: string, times: TimesInDoubt[]): ArchiveNote {
  const pairs = times.map(
    ({ first, firstAt, second, secondAt }) => `${words[first]} ${firstAt}, but ${words[second]} ${secondAt}`,
  );
  const text = `its times do not fit together, so a clock may have been wrong: ${pairs.join("; ")}`;
  return { kind: "times", path, text, times };
}
