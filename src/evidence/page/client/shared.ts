import type { Media } from "../../../ui/viewer.tsx";
import type { Me } from "./shapes.ts";
import type { Words } from "./words.ts";

/** What the parts of the page share. */
export interface Shared {
  readonly words: Words;
  readonly me: Me;
  readonly say: (text: string) => void;
  /** Shows a picture, with the others to look through. */
  readonly view: (media: Media, album: readonly Media[]) => void;
  /** Says why a request has failed; shows the login if the session has ended. */
  readonly fail: (error: unknown) => void;
}
