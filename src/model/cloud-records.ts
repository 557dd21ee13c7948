import * as v from "valibot";
import { decode, id, text } from "./decode.ts";
import type { CloudDevice, MediaItem, Terminal } from "./shapes.ts";

export const mediaItemSchema = v.pipe(
  v.looseObject({
    contentId: id("For fetch media."),
    contentType: text("MIME type; trust this one, not the description."),
    description: text("What it shows, such as AnnotatedColorImageJpeg."),
  }),
  v.description("One image or video of a transaction in the cloud."),
);

export const cloudDeviceSchema = v.pipe(
  v.looseObject({
    id: id("Opaque text."),
    name: text("As in the portal."),
    appVersion: text("Version of the device's software."),
    terminalId: text("ID of the terminal that it belongs to; null if there is none."),
    lastHeartbeatUtc: text("When the cloud last heard of it, in UTC."),
    registrationCode: text("What a remote trigger takes as deviceReference."),
  }),
  v.description("A device that is registered with the cloud."),
);

export const terminalSchema = v.pipe(
  v.looseObject({
    id: id("Opaque text."),
    name: text("As in the portal."),
    reference: text("As in the portal."),
    addressLine1: text("As in the portal."),
    addressLine2: text("As in the portal."),
    city: text("As in the portal."),
    provinceState: text("As in the portal."),
    country: text("As in the portal."),
    zipPostalCode: text("As in the portal."),
  }),
  v.description("A grouping of devices, such as a site."),
);

export const decodeMediaList = (value: unknown): MediaItem[] => decode(v.array(mediaItemSchema), value);
export const decodeDevices = (value: unknown): CloudDevice[] => decode(v.array(cloudDeviceSchema), value);
export const decodeDevice = (value: unknown): CloudDevice => decode(cloudDeviceSchema, value);
export const decodeTerminals = (value: unknown): Terminal[] => decode(v.array(terminalSchema), value);
export const decodeTerminal = (value: unknown): Terminal => decode(terminalSchema, value);
