import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** A picture or a video that is shown in full size. */
export interface Media {
  readonly url: string;
  readonly kind: "image" | "video";
  readonly title: string;
}

interface ViewerProps {
  /** Nothing: the viewer is closed. */
  readonly media: Media | undefined;
  /** The text of the button that closes it. */
  readonly close: string;
  readonly onClose: () => void;
}

/** Shows a picture or a video in full size, in a dialog above the page. */
export function Viewer({ media, close, onClose }: ViewerProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const isOpen = media !== undefined;
  // Before the browser draws it: a key that is pressed as soon as the content is there must already meet an open dialog.
  useLayoutEffect(() => {
    if (isOpen) {
      dialog.current?.showModal();
    }
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      id="viewer"
      aria-labelledby="viewer-title"
      onClose={onClose}
      onClick={({ target, currentTarget }) => {
        // A click beside the content hits the dialog itself.
        if (target === currentTarget) {
          currentTarget.close();
        }
      }}
    >
      <div class="head">
        <h2 id="viewer-title">{media?.title}</h2>
        <button type="button" id="viewer-close" onClick={() => dialog.current?.close()}>
          {close}
        </button>
      </div>
      {media?.kind === "image" && <img id="viewer-image" alt={media.title} src={media.url} />}
      {media?.kind === "video" && <video id="viewer-video" controls playsInline src={media.url} />}
    </dialog>
  );
}
