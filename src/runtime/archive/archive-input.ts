/**
 * The properties of a message that archive reads by themselves, beside those that its settings name: all say something of one parcel or
 * of its media.
 */
export const inputProperties = [
  "payload",
  "transactionId",
  "transactionReference",
  "customReference1",
  "customReference2",
  "customReference3",
  "barcodeReference",
  "device",
  "deviceReference",
  "deviceClientId",
  "cameraSerialId",
  "measurement",
  "rawResponse",
  "measuredBy",
  "imageIdentifier",
  "video",
  "billable",
  "scan",
  "contentType",
  "contentId",
  "description",
  "filename",
  "parts",
] as const;

export type InputProperty = (typeof inputProperties)[number];

/** A message as archive reads it: apart from its id, what is not in the list above cannot be read from it. */
export type ArchiveInput = Readonly<Partial<Record<InputProperty | "_msgid", unknown>>>;
