import type { Picture } from "../../vault/packages/intent.ts";

// Slots: the keys under which the media of a job are stored. The ids of a cloud can be any text, so each source has a
// prefix of its own.

const ofMessage = "message:";

/**
 * The slot of a medium of a message: the position of the message in its sequence, and of the medium in the message.
 */
export function messageSlot(position: number, index: number | null): string {
  return `${ofMessage}${position}${index === null ? "" : `.${index}`}`;
}

/** The position in its sequence of the message that brought a medium; null for other media. */
export function positionOf(slot: string): string | null {
  return slot.startsWith(ofMessage) ? slot.slice(ofMessage.length).replace(/\..*$/, "") : null;
}

export function pictureSlot(picture: Picture): string {
  return `device:${picture}`;
}

export const deviceVideoSlot = "device:video";

export function cloudSlot(contentId: string): string {
  return `cloud:${contentId}`;
}
