import { byId, setText } from "./dom.ts";
import type { Generation, Measurement, Newer, State } from "./shapes.ts";
import { bytes, clock, references, size, trigger, weight } from "./words.ts";

interface Last {
  readonly measurement: Measurement;
  /** How the measurement was started, if that is known. */
  readonly by: string;
  readonly barcode: string | null;
}

function lastOf({ newer, earlier }: State, generation: Generation): Last | null {
  if (generation === "earlier") {
    return earlier.last === null ? null : { measurement: earlier.last, by: "", barcode: null };
  }
  if (newer.last === null || !newer.powered) {
    return null;
  }
  return {
    measurement: newer.last.measurement,
    by: trigger(newer.last.trigger),
    barcode: newer.last.barcode,
  };
}

function sentence({ measurement, by, barcode }: Last): string {
  const { errorCode, errorMessage, legalForTrade, at } = measurement;
  const words = errorCode === 0 ? "Measured" : `Error ${errorCode}: ${errorMessage}.`;
  const parts = [
    `${words} ${by} ${errorCode === 0 ? "at" : ""} ${clock(at)}`.replace(/ +/g, " "),
    ...(legalForTrade ? ["legal for trade"] : []),
    ...(barcode === null ? [] : [barcode]),
    references(measurement),
  ];
  return parts.filter((part) => part !== "").join(" · ");
}

function storage({ savedVideo, recording, powered }: Newer): string {
  if (!powered) {
    return "";
  }
  if (recording !== null) {
    const given = references(recording.references);
    return given === "" ? "" : `Recording ${given}`;
  }
  if (savedVideo === null) {
    return "";
  }
  const facts = [`Saved video, ${bytes(savedVideo.bytes)}`, references(savedVideo.references)];
  if (savedVideo.waitsForMeasurement) {
    facts.push("waits for the next measurement that succeeds");
  }
  return facts.filter((fact) => fact !== "").join(" · ");
}

/** Creates the figures below the screen. */
export function createReadout(): (state: State, generation: Generation) => void {
  const part = (id: string): HTMLElement => byId(id, HTMLElement);
  const figures = ["length", "width", "height"] as const;
  const result = part("result");
  return (state, generation) => {
    const last = lastOf(state, generation);
    const object = last?.measurement.object ?? null;
    for (const figure of figures) {
      setText(part(figure), object === null ? "–" : size(object[figure]));
      setText(part(`unit-${figure}`), object === null ? "" : (last?.measurement.dimsUnit ?? ""));
    }
    // The earlier device has no scale.
    part("weight-cell").hidden = generation === "earlier";
    const weighed = last !== null && object !== null;
    setText(part("weight"), weighed ? weight(last.measurement.weight) : "–");
    setText(part("unit-weight"), weighed ? last.measurement.weightUnit : "");
    setText(result, last === null ? "Nothing measured yet" : sentence(last));
    result.dataset["kind"] = last === null ? "none" : last.measurement.errorCode === 0 ? "good" : "broken";
    setText(part("storage"), generation === "newer" ? storage(state.newer) : "");
  };
}
