import { Component, type VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { Choices } from "../../ui/choices.tsx";
import { Activity } from "./activity.tsx";
import type { Generation, Newer, State, TableParcel } from "./shapes.ts";

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
