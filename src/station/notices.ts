import type { BusyPhase, NoticeKind, Parcel, Station } from "./types.ts";

/** Shows a sentence on the screens of a station, in place of the one before. */
export function say(
  run: { readonly now: number },
  station: Station,
  kind: NoticeKind,
  text: string,
  detail = "",
): void {
  station.notices += 1;
  station.notice = { id: `${station.boot}-${station.notices}`, kind, text, detail, at: run.now };
}

/** The outcome of the command that was sent last is not known: the packer has to look at the device. */
export function leaveInDoubt(station: Station, parcel: Parcel, phase: BusyPhase): void {
  if (phase === "measuring") {
    parcel.doubt = parcel.video && !parcel.result;
    const { job, jobAt, reported } = station;
    const doubt = {
      job: job ?? "",
      sentAt: jobAt,
      id: parcel.id,
      reference: parcel.reference,
      record: reported,
    };
    station.doubts = [doubt, ...station.doubts].slice(0, 10);
  }
  Object.assign(station, { phase: "check", unknown: phase, job: null });
}
