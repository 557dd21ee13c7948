import type { Media } from "../../ui/viewer.tsx";
import type { Control } from "./control.ts";

/** What the panels of the page can do. */
export interface Actions {
  readonly control: Control;
  /** Shows a text at the bottom of the page. */
  readonly say: (text: string) => void;
  /** Shows a picture or a video in full size. */
  readonly view: (media: Media) => void;
}
