import type { VNode } from "preact";

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

const figures = [
  { name: "length", label: "Length" },
  { name: "width", label: "Width" },
  { name: "height", label: "Height" },
] as const;

interface FigureProps {
  readonly name: string;
  readonly label: string;
  /** Undefined: nothing was measured. */
  readonly value: string | undefined;
  readonly unit: string | undefined;
}

function Figure({ name, label, value, unit }: FigureProps): VNode {
  return (
    <div id={`${name}-cell`}>
      <dt>{label}</dt>
      <dd>
        <output id={name}>{value ?? "–"}</output>
        <small id={`unit-${name}`}>{value === undefined ? "" : unit}</small>
      </dd>
    </div>
  );
}

interface ReadoutProps {
  readonly state: State;
  readonly generation: Generation;
}

/** The figures below the screen, and what is known about them. */
export function Readout({ state, generation }: ReadoutProps): VNode {
  const last = lastOf(state, generation);
  const measurement = last?.measurement;
  const object = measurement?.object ?? undefined;
  const kind = measurement === undefined ? "none" : measurement.errorCode === 0 ? "good" : "broken";
  return (
    <>
      <dl class="readout" id="readout">
        {figures.map(({ name, label }) => (
          <Figure
            key={name}
            name={name}
            label={label}
            value={object === undefined ? undefined : size(object[name])}
            unit={measurement?.dimsUnit}
          />
        ))}
        {/* The earlier device has no scale. */}
        {generation === "newer" && (
          <Figure
            name="weight"
            label="Weight"
            value={measurement === undefined || object === undefined ? undefined : weight(measurement.weight)}
            unit={measurement?.weightUnit}
          />
        )}
      </dl>
      <p class="result" id="result" role="status" data-kind={kind}>
        {last === null ? "Nothing measured yet" : sentence(last)}
      </p>
      <p class="result" id="storage">
        {generation === "newer" && storage(state.newer)}
      </p>
    </>
  );
}
