import { byId, choose, onChoice, setSource, setTextOrHide } from "./dom.ts";
import type { Generation, Newer, State, TableParcel } from "./shapes.ts";
import { duration } from "./words.ts";

const imageViews = ["annotated", "color", "depth"] as const;
type ImageView = (typeof imageViews)[number];
type View = "camera" | "video" | ImageView;

const tickMs = 200;

/** The parts of a state that the screen shows. */
interface Seen {
  readonly generation: Generation;
  readonly image: string | null;
  readonly recordingSince: string | null;
  readonly video: string | null;
  readonly parcel: string;
}

function viewOf(value: string): View {
  if (value === "video") {
    return value;
  }
  return imageViews.find((one) => one === value) ?? "camera";
}

function imageOf({ powered, last }: Newer): string | null {
  return powered ? (last?.imageIdentifier ?? null) : null;
}

function videoOf({ powered, mode, savedVideo }: Newer): string | null {
  const keeps = mode === "video-only" || mode === "video-with-measurement";
  return powered && keeps ? (savedVideo?.recordingId ?? null) : null;
}

function altOf(parcel: TableParcel | null): string {
  return parcel === null ? "Camera: the table is empty" : `Camera: ${parcel.pictured.title} on the table`;
}

/** Creates the device's screen: the camera, the last pictures, the saved video, and what is going on. */
export function createScreen(): (state: State, generation: Generation) => void {
  const camera = byId("camera", HTMLImageElement);
  const clip = byId("clip", HTMLVideoElement);
  const picture = byId("picture", HTMLImageElement);
  const video = byId("video", HTMLVideoElement);
  const badge = byId("badge", HTMLElement);
  const veil = byId("veil", HTMLElement);
  const views = byId("views", HTMLFieldSetElement);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let view: View = "camera";
  let favourite: ImageView = "annotated";
  let seen: Seen | undefined;
  let current: State | undefined;
  let serverAhead = 0;
  let ticking = 0;

  function follow(next: Seen, before: Seen | undefined): View {
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
    return begins || next.parcel !== before.parcel ? "camera" : view;
  }

  function tick(): void {
    if (current === undefined) {
      return;
    }
    const { newer, earlier } = current;
    const now = Date.now() + serverAhead;
    const isNewer = seen?.generation !== "earlier";
    const on = !isNewer || newer.powered;
    const recording = isNewer && on ? newer.recording : null;
    const encoded = isNewer && on ? newer.encodingEndsAt : null;
    const measuring = on && (isNewer ? newer.measuring : earlier.measuring);
    badge.dataset["kind"] = recording === null ? "busy" : "recording";
    setTextOrHide(
      badge,
      recording !== null
        ? `REC ${duration(now - Date.parse(recording.startedAt))}`
        : encoded !== null
          ? `Encoding, ${Math.max(0, Math.ceil((Date.parse(encoded) - now) / 1000))} s`
          : measuring
            ? "Measuring"
            : "",
    );
    setTextOrHide(veil, on ? "" : "Switched off");
    const busy = recording !== null || encoded !== null;
    if (busy && ticking === 0) {
      ticking = setInterval(tick, tickMs);
    }
    if (!busy && ticking !== 0) {
      clearInterval(ticking);
      ticking = 0;
    }
  }

  function render(): void {
    if (current === undefined || seen === undefined) {
      return;
    }
    const { generation, image, video: recordingId } = seen;
    const { newer } = current;
    const { parcel } = current[generation];
    const isImage = view !== "camera" && view !== "video";
    if ((isImage && image === null) || (view === "video" && recordingId === null)) {
      view = "camera";
    }
    const films = generation === "newer" && newer.powered && newer.recording !== null && parcel !== null;
    const moves = films && view === "camera" && !still.matches;

    setSource(camera, parcel === null ? "table.svg" : `catalogue/${parcel.pictured.name}/color`);
    camera.alt = altOf(parcel);
    camera.hidden = view !== "camera";
    setSource(clip, moves ? `catalogue/${parcel.pictured.name}/video` : "");
    clip.hidden = !moves;
    // A browser without the codec shows the picture instead.
    if (moves && clip.paused) {
      clip.play().catch(() => (clip.hidden = true));
    }

    picture.hidden = view === "camera" || view === "video";
    if (!picture.hidden) {
      setSource(picture, `images/${image ?? ""}/${view}`);
      picture.alt = `The last measurement’s ${view} picture`;
    }
    setSource(video, recordingId === null ? "" : `video/${recordingId}`);
    if (view !== "video") {
      video.pause();
    }
    video.hidden = view !== "video";

    views.hidden = generation === "earlier";
    choose(views, view);
    for (const input of views.querySelectorAll("input")) {
      input.disabled =
        input.value === "video" ? recordingId === null : input.value !== "camera" && image === null;
    }
    tick();
  }

  onChoice(views, (value) => {
    view = viewOf(value);
    favourite = imageViews.find((one) => one === view) ?? favourite;
    render();
  });
  return (state, generation) => {
    const { newer } = state;
    const isNewer = generation === "newer";
    const next = {
      generation,
      image: isNewer ? imageOf(newer) : null,
      recordingSince: isNewer ? (newer.recording?.startedAt ?? null) : null,
      video: isNewer ? videoOf(newer) : null,
      parcel: JSON.stringify(state[generation].parcel),
    };
    serverAhead = Date.parse(state.now) - Date.now();
    view = follow(next, seen);
    seen = next;
    current = state;
    render();
  };
}
