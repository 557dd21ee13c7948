import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase } from "../errors/interpolation.ts";
import { writeQuery } from "../http/call.ts";
import type { MeasureSource, References } from "../model/measurement.ts";

export type Generation = "newer" | "earlier" | "gateway";

export type ImageKind = "annotated" | "color" | "depth";
export type VideoAction = "start" | "stop" | "cancel";
export type VideoMethod = "download" | "stream";

/** The endpoints of one generation's API (spec 4.2 and 4.3); null if the API has no such endpoint. */
export interface GenerationProfile {
  /** The surface in results and errors. */
  readonly surface: MeasureSource;
  readonly measurePath: string;
  /** Whether the measure takes references in its query. */
  readonly takesReferences: boolean;
  readonly pingPath: string | null;
  readonly imagePaths: Readonly<Record<ImageKind, string>> | null;
  readonly videoActionPath: string | null;
  readonly videoPaths: Readonly<Record<VideoMethod, string>> | null;
}

export const generations: Readonly<Record<Generation, GenerationProfile>> = {
  newer: {
    surface: "newer-device",
    measurePath: "/api/v1/measure",
    takesReferences: true,
    pingPath: "/api/v1/ping",
    imagePaths: {
      annotated: "/api/v1/image/annotatedcolor",
      color: "/api/v1/image/color",
      depth: "/api/v1/image/depth",
    },
    videoActionPath: "/api/v1/video",
    videoPaths: { download: "/api/v1/video/download", stream: "/api/v1/video/stream" },
  },
  earlier: {
    surface: "earlier-device",
    measurePath: "/api/measure",
    takesReferences: false,
    pingPath: "/api/ping",
    // Its documentation mentions an endpoint for images without its path, and a path must not be guessed.
    imagePaths: null,
    videoActionPath: null,
    videoPaths: null,
  },
  /** The desktop companion program: one measure, in the cloud's format. In results its surface is the cloud. */
  gateway: {
    surface: "cloud",
    measurePath: "/measure",
    takesReferences: false,
    pingPath: null,
    imagePaths: null,
    videoActionPath: null,
    videoPaths: null,
  },
};

/** The references as parameters of the device's query (spec 4.2, rule 3). */
export function writeReferences(references: References): string {
  return writeQuery({
    TransactionReference: references.transactionReference,
    CustomReference1: references.customReference1,
    CustomReference2: references.customReference2,
    CustomReference3: references.customReference3,
  });
}

/** Throws ERR_CONFIG: the API of this generation lacks the requested function. */
export function refuseMissing(
  generation: Generation,
  feature: "images" | "ping" | "video",
  operation: string,
  outcome: "not-sent" | null,
): never {
  throw new DimensionerError(
    "configGeneration",
    { surface: "config", operation, outcome },
    { generation: phrase(generation), feature: phrase(feature) },
  );
}
