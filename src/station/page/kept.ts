import type { Texts } from "../texts.ts";
import type { ScreenState } from "../types.ts";

/** Something that the packer has done, until Node-RED has confirmed it. */
export interface Pending {
  /** Its ID: the same one counts once. */
  readonly input: string;
  readonly topic: "scan" | "button";
  readonly payload: string;
  /** When it was done, by the clock of Node-RED; 0 until it was sent. */
  at: number;
  /** When it was first and last sent, by the clock of this browser; 0 until it was. */
  firstSentAt: number;
  sentAt: number;
}

/** What outlives the component, which Dashboard makes anew after each deploy. */
export interface Kept {
  /** What a scanner has typed of a code, and when its last key came. */
  typed: string;
  keyAt: number;
  /** One is sent after the other. */
  readonly pending: Pending[];
  state: ScreenState | null;
  texts: Texts;
  /** The ID of the last notice that was heard. */
  heard: string;
  station: string | null;
  /** The component that takes keys, the path of its page, and the keys for the next one. */
  screen: { key(event: KeyboardEvent): void } | null;
  page: string;
  keys: KeyboardEvent[] | null;
  sound: AudioContext | null;
}

declare global {
  interface Window {
    packingStation?: Kept;
  }
}
