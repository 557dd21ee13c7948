import { Component, type VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Choices } from "../../ui/choices.tsx";
import type { Generation, Measurement, Newer, State, TableParcel } from "./shapes.ts";
import { bytes, clock, duration, references, size, trigger, weight } from "./words.ts";

const tickMs = 200;

/** The time of the simulator, whose clock may differ from the browser's; renews itself while it is needed. */
function useServerTime(state: State, isNeeded: boolean): number {
  const serverAhead = useMemo(() => Date.parse(state.now) - Date.now(), [state]);
  const [, setTicks] = useState(0);
  useEffect(() => {
    if (!isNeeded) {
      return undefined;
    }
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), tickMs);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return Date.now() + serverAhead;
}

interface ActivityProps {
  readonly state: State;
  readonly generation: Generation;
}

/** What is going on at the device, above its screen. */
function Activity({ state, generation }: ActivityProps): VNode {
  const { newer, earlier } = state;
  const isNewer = generation === "newer";
  const isOn = !isNewer || newer.powered;
  const recording = isNewer && isOn ? newer.recording : null;
  const encodingEndsAt = isNewer && isOn ? newer.encodingEndsAt : null;
  const isMeasuring = isOn && (isNewer ? newer.measuring : earlier.measuring);
  const now = useServerTime(state, recording !== null || encodingEndsAt !== null);

  function words(): string {
    if (recording !== null) {
      return `REC ${duration(now - Date.parse(recording.startedAt))}`;
    }
    if (encodingEndsAt !== null) {
      return `Encoding, ${Math.max(0, Math.ceil((Date.parse(encodingEndsAt) - now) / 1000))} s`;
    }
    return isMeasuring ? "Measuring" : "";
  }
  const text = words();
  return (
    <>
      {text !== "" && (
        <p class="badge" id="badge" data-kind={recording === null ? "busy" : "recording"}>
          {text}
        </p>
      )}
      {!isOn && (
        <p class="switched-off" id="switched-off">
          Switched off
        </p>
      )}
    </>
  );
}

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

const imageViews = ["annotated", "color", "depth"] as const;
type ImageView = (typeof imageViews)[number];
type View = "camera" | "video" | ImageView;

const views = [
  { value: "camera", label: "Camera" },
  { value: "annotated", label: "Annotated" },
  { value: "color", label: "Color" },
  { value: "depth", label: "Depth" },
  { value: "video", label: "Video" },
] as const;

/** The parts of a state whose change leads to another view. */
interface Seen {
  readonly generation: Generation;
  readonly image: string | null;
  readonly recordingSince: string | null;
  readonly video: string | null;
  readonly parcel: string;
}

interface ScreenProps {
  readonly state: State;
  readonly generation: Generation;
}

interface ScreenState {
  readonly view: View;
  /** The picture that a new measurement shows. */
  readonly favourite: ImageView;
  readonly seen?: Seen;
}

function isImage(view: View): view is ImageView {
  return view !== "camera" && view !== "video";
}

function imageOf({ powered, last }: Newer): string | null {
  return powered ? (last?.imageIdentifier ?? null) : null;
}

function videoOf({ powered, mode, savedVideo }: Newer): string | null {
  const keeps = mode === "video-only" || mode === "video-with-measurement";
  return powered && keeps ? (savedVideo?.recordingId ?? null) : null;
}

function seenOf({ state, generation }: ScreenProps): Seen {
  const { newer } = state;
  const isNewer = generation === "newer";
  return {
    generation,
    image: isNewer ? imageOf(newer) : null,
    recordingSince: isNewer ? (newer.recording?.startedAt ?? null) : null,
    video: isNewer ? videoOf(newer) : null,
    parcel: JSON.stringify(state[generation].parcel),
  };
}

/** The view that follows what has happened. */
function follow(next: Seen, before: Seen | undefined, { view, favourite }: ScreenState): View {
  if (before === undefined || next.generation !== before.generation) {
    return "camera";
  }
  if (next.image !== null && next.image !== before.image) {
    return favourite;
  }
  if (next.video !== null && next.video !== before.video) {
    return "video";
  }
  const begins = next.recordingSince !== null && next.recordingSince !== before.recordingSince;
  const isGone = (isImage(view) && next.image === null) || (view === "video" && next.video === null);
  return begins || isGone || next.parcel !== before.parcel ? "camera" : view;
}

function altOf(parcel: TableParcel | null): string {
  return parcel === null ? "Camera: the table is empty" : `Camera: ${parcel.pictured.title} on the table`;
}

/** The moving picture of the camera, above the still one. */
function Clip({ url }: { readonly url: string }): VNode {
  const video = useRef<HTMLVideoElement>(null);
  const [isPlaying, setPlaying] = useState(true);
  useEffect(() => {
    // A browser without the codec shows the picture instead.
    video.current?.play().catch(() => setPlaying(false));
  }, []);
  return (
    <video
      ref={video}
      id="clip"
      muted
      loop
      playsInline
      hidden={!isPlaying}
      aria-hidden
      tabIndex={-1}
      src={url}
    />
  );
}

function SavedVideo({ url, isShown }: { readonly url: string; readonly isShown: boolean }): VNode {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (!isShown) {
      video.current?.pause();
    }
  }, [isShown]);
  return (
    <video
      ref={video}
      id="video"
      controls
      playsInline
      preload="metadata"
      hidden={!isShown}
      aria-label="The saved video"
      src={url}
    />
  );
}

/** The device's screen: the camera, the last pictures, the saved video, and what is going on. */
export class Screen extends Component<ScreenProps, ScreenState> {
  readonly #still = matchMedia("(prefers-reduced-motion: reduce)");
  override state: ScreenState = { view: "camera", favourite: "annotated" };

  static override getDerivedStateFromProps(props: ScreenProps, state: ScreenState): ScreenState {
    const seen = seenOf(props);
    return { ...state, view: follow(seen, state.seen, state), seen };
  }

  #choose(view: View): void {
    this.setState(isImage(view) ? { view, favourite: view } : { view });
  }

  override render({ state, generation }: ScreenProps, { view }: ScreenState): VNode {
    const { newer } = state;
    const { parcel } = state[generation];
    const { image, video } = seenOf({ state, generation });
    const films = generation === "newer" && newer.powered && newer.recording !== null;
    const name = parcel?.pictured.name;
    return (
      <>
        <div class="screen" id="screen">
          <img
            id="camera"
            alt={altOf(parcel)}
            width="560"
            height="420"
            hidden={view !== "camera"}
            src={name === undefined ? "table.svg" : `catalogue/${name}/color`}
          />
          {films && name !== undefined && view === "camera" && !this.#still.matches && (
            <Clip key={name} url={`catalogue/${name}/video`} />
          )}
          {isImage(view) && image !== null && (
            <img
              id="picture"
              alt={`The last measurement’s ${view} picture`}
              width="560"
              height="420"
              src={`images/${image}/${view}`}
            />
          )}
          {video !== null && <SavedVideo key={video} url={`video/${video}`} isShown={view === "video"} />}
          <Activity state={state} generation={generation} />
        </div>
        {generation === "newer" && (
          <Choices
            id="views"
            class="views"
            legend={<legend class="unseen">On the screen</legend>}
            name="view"
            choices={views.map(({ value, label }) => ({
              value,
              label: <span>{label}</span>,
              isDisabled: value === "video" ? video === null : value !== "camera" && image === null,
            }))}
            value={view}
            onChoose={(next) => this.#choose(next)}
          />
        )}
      </>
    );
  }
}
