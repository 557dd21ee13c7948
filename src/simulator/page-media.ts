import type { Content } from "./content.ts";
import type { SimulatorCore } from "./core.ts";
import { imageKinds, type ImageKind } from "./parcels.ts";

/** Images and videos that the control port serves to the page. */
export interface PageMedia {
  /** Finds a medium by the decoded segments of a path; null if there is none. */
  find(segments: readonly string[]): Content | null;
}

function imageKind(name: string): ImageKind | undefined {
  return imageKinds.find((kind) => kind === name);
}

/** Finds the media that the page shows. None of these requests is listed, and no fault applies to them. */
export function createPageMedia(core: SimulatorCore): PageMedia {
  const { parcels, devices, transactions } = core;

  function catalogue(parcel: string, kind: string): Content | null {
    const picture = kind === "video" || kind === "label" ? kind : imageKind(kind);
    if (picture === undefined || !parcels.names.includes(parcel)) {
      return null;
    }
    const found = parcels.find(parcel);
    return found === null ? null : parcels.image(found, picture);
  }

  function savedVideo(recordingId: string): Content | null {
    const { state, savedContent } = devices.newer;
    return state.savedVideo?.recordingId === recordingId ? savedContent : null;
  }

  function media(transactionId: string, contentId: string): Content | null {
    const transaction = transactions.find(transactionId);
    if (transaction === undefined) {
      return null;
    }
    return transactions.media(transaction, contentId)?.load() ?? null;
  }

  return {
    find([what, first = "", second = "", ...rest]) {
      if (rest.length > 0) {
        return null;
      }
      if (what === "catalogue") {
        return catalogue(first, second);
      }
      if (what === "video") {
        return second === "" ? savedVideo(first) : null;
      }
      if (what === "media") {
        return media(first, second);
      }
      const kind = what === "images" ? imageKind(second) : undefined;
      return kind === undefined ? null : devices.newer.image(kind, first);
    },
  };
}
