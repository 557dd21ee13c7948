import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** A picture or a video that is shown in full size. */
export interface Media {
  readonly url: string;
  readonly kind: "image" | "video";
  readonly title: string;
}

/** The pictures that are looked through, and the texts of its buttons. */
interface Album {
  readonly media: readonly Media[];
  readonly onMove: (media: Media) => void;
  readonly previous: string;
  readonly next: string;
  readonly enlarge: string;
}

interface ViewerProps {
  /** Nothing: the viewer is closed. */
  readonly media: Media | undefined;
  /** The text of the button that closes it. */
  readonly close: string;
  readonly onClose: () => void;
  readonly album?: Album;
}

/** Shows a picture or a video in full size, in a dialog above the page. In an album, the arrow keys lead to the others. */
export function Viewer({ media, close, onClose, album }: ViewerProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isZoomed, setZoomed] = useState(false);
  const isOpen = media !== undefined;
  // Before the browser draws it: a key that is pressed as soon as the content is there must already meet an open dialog.
  useLayoutEffect(() => {
    if (isOpen) {
      dialog.current?.showModal();
    }
  }, [isOpen]);
  useEffect(() => setZoomed(false), [media?.url]);
  const at = album?.media.findIndex(({ url }) => url === media?.url) ?? -1;
  const [before, after] = at < 0 ? [] : [album?.media[at - 1], album?.media[at + 1]];
  function move(to: Media | undefined): void {
    if (to !== undefined) {
      album?.onMove(to);
    }
  }
  function press(event: KeyboardEvent): void {
    const to = event.key === "ArrowLeft" ? before : event.key === "ArrowRight" ? after : undefined;
    // A picture that is larger than its frame is moved with the same keys.
    if (to !== undefined && !isZoomed) {
      event.preventDefault();
      move(to);
    }
  }
  return (
    <dialog
      ref={dialog}
      id="viewer"
      aria-labelledby="viewer-title"
      onClose={onClose}
      onKeyDown={press}
      onClick={({ target, currentTarget }) => {
        // A click beside the content hits the dialog itself.
        if (target === currentTarget) {
          currentTarget.close();
        }
      }}
    >
      <div class="head">
        <h2 id="viewer-title">{media?.title}</h2>
        {album !== undefined && at >= 0 && (
          <>
            <button
              type="button"
              id="viewer-previous"
              aria-disabled={before === undefined}
              onClick={() => move(before)}
            >
              {album.previous}
            </button>
            <button
              type="button"
              id="viewer-next"
              aria-disabled={after === undefined}
              onClick={() => move(after)}
            >
              {album.next}
            </button>
            <button
              type="button"
              id="viewer-zoom"
              aria-pressed={isZoomed}
              onClick={() => setZoomed(!isZoomed)}
            >
              {album.enlarge}
            </button>
          </>
        )}
        <button type="button" id="viewer-close" onClick={() => dialog.current?.close()}>
          {close}
        </button>
      </div>
      {media?.kind === "image" && (
        <div class={isZoomed ? "frame zoomed" : "frame"} tabIndex={isZoomed ? 0 : undefined}>
          <img id="viewer-image" alt={media.title} src={media.url} />
        </div>
      )}
      {media?.kind === "video" && <video id="viewer-video" controls playsInline src={media.url} />}
    </dialog>
  );
}
