import * as v from "valibot";
import { decode, id, text } from "./decode.ts";

const mediaItem = v.looseObject({ contentId: id, contentType: text, description: text });

/** One image or video of a transaction (spec 2.1). */
export interface MediaItem {
  contentId: string;
  /** MIME type. */
  contentType: string | null;
  /** What it shows, such as AnnotatedColorImageJpeg. */
  description: string | null;
  [field: string]: unknown;
}

const cloudDevice = v.looseObject({
  id,
  name: text,
  appVersion: text,
  terminalId: text,
  lastHeartbeatUtc: text,
  registrationCode: text,
});

/** A device that is registered with the cloud; `registrationCode` is what a trigger takes as deviceReference. */
export interface CloudDevice {
  id: string;
  name: string | null;
  appVersion: string | null;
  terminalId: string | null;
  lastHeartbeatUtc: string | null;
  registrationCode: string | null;
  [field: string]: unknown;
}

const terminal = v.looseObject({
  id,
  name: text,
  reference: text,
  addressLine1: text,
  addressLine2: text,
  city: text,
  provinceState: text,
  country: text,
  zipPostalCode: text,
});

/** A grouping of devices, such as a site. */
export interface Terminal {
  id: string;
  name: string | null;
  reference: string | null;
  addressLine1: string | null;
  addressLine2: string | null;
  city: string | null;
  provinceState: string | null;
  country: string | null;
  zipPostalCode: string | null;
  [field: string]: unknown;
}

export const decodeMediaList = (value: unknown): MediaItem[] => decode(v.array(mediaItem), value);
export const decodeDevices = (value: unknown): CloudDevice[] => decode(v.array(cloudDevice), value);
export const decodeDevice = (value: unknown): CloudDevice => decode(cloudDevice, value);
export const decodeTerminals = (value: unknown): Terminal[] => decode(v.array(terminal), value);
export const decodeTerminal = (value: unknown): Terminal => decode(terminal, value);
