import { byId, setSource, setText } from "./dom.ts";

/** Creates the viewer that shows a picture or a video in full size. */
export type View = (url: string, kind: "image" | "video", title: string) => void;

export function createViewer(): View {
  const dialog = byId("viewer", HTMLDialogElement);
  const title = byId("viewer-title", HTMLElement);
  const image = byId("viewer-image", HTMLImageElement);
  const video = byId("viewer-video", HTMLVideoElement);
  byId("viewer-close", HTMLButtonElement).addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) {
      dialog.close();
    }
  });
  dialog.addEventListener("close", () => setSource(video, ""));
  return (url, kind, words) => {
    setText(title, words);
    image.hidden = kind !== "image";
    video.hidden = kind !== "video";
    image.alt = words;
    if (kind === "image") {
      setSource(image, url);
    } else {
      setSource(video, url);
    }
    dialog.showModal();
  };
}
