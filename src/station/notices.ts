import type { CaughtError } from "../dashboard/function-node.ts";
import type { Texts } from "./texts.ts";
import type { BusyPhase, NoticeKind, Parcel, Station } from "./types.ts";

/** What is known of the reason of a notice: what a packer can do about it, and what only a supervisor can. */
interface Why {
  readonly reason?: string;
  readonly detail?: string;
  readonly time?: number;
}

/** Shows a sentence on the screens of a station, in place of the one before. */
export function say(
  run: { readonly now: number },
  station: Station,
  kind: NoticeKind,
  text: string,
  { reason = "", detail = "", time }: Why = {},
): void {
  station.notices += 1;
  const id = `${station.boot}-${station.notices}`;
  station.notice = { id, kind, text, time: time ?? null, reason, at: run.now };
  if (detail !== "") {
    station.problem = { text, detail, at: run.now };
  }
}

/**
 * Why something failed, for a packer and for the supervisor. What the node says has addresses and settings in it; a packer gets what
 * somebody at the table can do.
 */
export function reasonOf(
  t: Texts,
  { code = "", message }: CaughtError,
): Required<Pick<Why, "detail" | "reason">> {
  const silent = ["ERR_UNREACHABLE", "ERR_TIMEOUT", "ERR_CONNECTION_LOST", "ERR_DEVICE_TIMEOUT"];
  const late = ["ERR_QUEUE_FULL", "ERR_EXPIRED", "ERR_CANCELLED"];
  const reason = silent.includes(code) ? t.whySilent : late.includes(code) ? t.whyBusy : t.whySupervisor;
  return { reason, detail: message };
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
      operator: parcel.operator,
      note: parcel.note,
      color: parcel.color,
      record: reported,
    };
    station.doubts = [doubt, ...station.doubts].slice(0, 10);
  }
  Object.assign(station, { phase: "check", unknown: phase, job: null });
}
