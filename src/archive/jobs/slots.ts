import type { Picture } from "../packages/intent.ts";

// What a medium of a job is stored under. Ids of a cloud can be anything, so each source has a prefix of its own.

const ofMessage = "message:";

/** For a medium that a message brings: the place of the message in its sequence, and the medium's among several. */
export function messageSlot(place: number, index: number | null): string {
  return `${ofMessage}${place}${index === null ? "" : `.${index}`}`;
}

/** The place in its sequence of the message that brought a medium; null for one from elsewhere. */
export function placeOf(slot: string): string | null {
  return slot.startsWith(ofMessage) ? slot.slice(ofMessage.length).replace(/\..*$/, "") : null;
}

export function pictureSlot(picture: Picture): string {
  return `device:${picture}`;
}

export const deviceVideoSlot = "device:video";

export function cloudSlot(contentId: string): string {
  return `cloud:${contentId}`;
}
