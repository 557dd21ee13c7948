import type { Mode } from "../../src/simulator/index.ts";

/** The state of the devices, in a model that is far simpler than the simulator and shares no code with it. */
export interface DeviceState {
  readonly mode: Mode;
  readonly isTableEmpty: boolean;
  /** Reference of the running recording, and of the saved video. */
  readonly recording: string | null;
  readonly saved: string | null;
  /** The saved video goes to the next measurement that succeeds. */
  readonly savedWaits: boolean;
  readonly measures: number;
  readonly starts: number;
  readonly stops: number;
  readonly cancels: number;
  readonly earlierMeasures: number;
}

export type Action = "cancel" | "earlier-measure" | "measure" | "start" | "stop";

/** The device's reply to an action. */
export type Reply = "done" | "failed" | "refused";

export const firstState: DeviceState = {
  mode: "video-with-measurement",
  isTableEmpty: false,
  recording: null,
  saved: null,
  savedWaits: false,
  measures: 0,
  starts: 0,
  stops: 0,
  cancels: 0,
  earlierMeasures: 0,
};

type Change = readonly [state: DeviceState, reply: Reply];

/** What one action makes of the devices. */
export function act(state: DeviceState, action: Action, reference: string | null): Change {
  const films = state.mode === "video-only" || state.mode === "video-with-measurement";
  switch (action) {
    case "earlier-measure":
      return [{ ...state, earlierMeasures: state.earlierMeasures + 1 }, "done"];
    case "measure":
      return state.mode === "video-only" ? [state, "failed"] : measure(state);
    case "start":
      if (!films) {
        return [state, "refused"];
      }
      return [
        { ...state, recording: reference, saved: null, savedWaits: false, starts: state.starts + 1 },
        "done",
      ];
    case "stop":
      if (state.mode !== "video-only") {
        return [state, "refused"];
      }
      if (state.recording === null) {
        return [state, "done"];
      }
      return [
        { ...state, recording: null, saved: state.recording, savedWaits: false, stops: state.stops + 1 },
        "done",
      ];
    case "cancel":
      if (!films) {
        return [state, "refused"];
      }
      return [
        { ...state, recording: null, saved: null, savedWaits: false, cancels: state.cancels + 1 },
        "done",
      ];
  }
}

/** In Video with Measurement it ends the recording: a success takes the video along, a failure leaves it there. */
function measure(before: DeviceState): Change {
  const state = { ...before, measures: before.measures + 1 };
  const reply = state.isTableEmpty ? "failed" : "done";
  if (state.mode !== "video-with-measurement") {
    return [state, reply];
  }
  if (reply === "done") {
    const saved = state.savedWaits ? null : state.saved;
    return [{ ...state, recording: null, saved, savedWaits: false }, reply];
  }
  if (state.recording === null) {
    return [state, reply];
  }
  return [{ ...state, recording: null, saved: state.recording, savedWaits: true }, reply];
}

/** A change of mode ends a recording. */
export function setMode(state: DeviceState, mode: Mode): DeviceState {
  return { ...state, mode, recording: mode === state.mode ? state.recording : null };
}

/** Whether it is switched off or on: what was in memory is gone at once. */
export function losePower(state: DeviceState): DeviceState {
  return { ...state, recording: null };
}
