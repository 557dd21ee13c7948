import type { Sentence } from "./sentence.ts";

/** Requests that a device or the cloud refuses, and what it does not have. */
export const refusals = {
  unauthorized: {
    code: "ERR_UNAUTHORIZED",
    text: "The cloud rejected the token. Create a new one in the cloud portal.",
    hint: "Tokens can expire or be revoked in the portal.",
    inNode: {
      text: "The cloud rejected the token. Create a new one in the cloud portal and enter it in the cloud config node.",
    },
  },
  wrongMode: {
    code: "ERR_WRONG_MODE",
    text: "The device's operating mode does not allow this video request. Select a video mode in the device's portal.",
    hint: "Stop works only in Video Only; outside the video modes the device rejects every video request.",
  },
  wrongModeStop: {
    code: "ERR_WRONG_MODE",
    text: "The device's operating mode does not allow stop. Use stop in Video Only; in Video with Measurement, a measurement ends the recording.",
    hint: "Cancel ends a recording in both video modes and deletes it.",
  },
  badDeviceReference: {
    code: "ERR_BAD_DEVICE_REFERENCE",
    text: "The cloud rejected this request for device “__reference__”. Check its registration code and its operating mode.",
    hint: "The device must be registered and connected; video needs a video mode, and stop needs Video Only.",
  },
  deviceTimeout: {
    code: "ERR_DEVICE_TIMEOUT",
    text: "Device “__reference__” did not answer the cloud in time. Check the device before you try again: it may have acted.",
    hint: "Check that the device is on and connected to the cloud.",
  },
  noVideo: {
    code: "ERR_NO_VIDEO",
    text: "No video is saved on the device. Record and stop one in Video Only, or wait longer if it is still being encoded.",
    hint: "After a successful measurement the video is in the cloud. If other requests fail too, check Enable Local API.",
    retryable: true,
  },
  notFound: {
    code: "ERR_NOT_FOUND",
    text: "__host__ does not offer this request. Turn on Enable Local API in the device's portal and check the generation.",
    hint: "Either Enable Local API is off, or the device is of another generation (newer or earlier).",
    inNode: {
      text: "__host__ does not offer this request. Turn on Enable Local API in the device's portal and check the generation in the device config node.",
    },
    cloud: {
      text: "__host__ has nothing at __path__. Check the ID and the address.",
      hint: "Images and videos reach the cloud with a delay.",
    },
  },
  notFoundImage: {
    code: "ERR_NOT_FOUND",
    text: "__host__ does not have this image. Check the image identifier and, if other requests fail too, Enable Local API.",
    hint: "The image identifier comes with the measurement's result; the generation (newer or earlier) must match the device.",
  },
  queueFull: {
    code: "ERR_QUEUE_FULL",
    text: "The queue for this device is full (waiting: __limit__). Nothing was sent; try again later.",
    hint: "The limit is the queueLimit option.",
    inNode: { hint: "The queue limit is set in the config node." },
    retryable: true,
  },
  expired: {
    code: "ERR_EXPIRED",
    text: "This command waited longer than __seconds__ s and was dropped: another parcel may be on the table by now. Scan again if it is still needed.",
    hint: "The limit is the maxWaitMs option.",
    inNode: { hint: "How long a command may wait is set in the config node." },
    retryable: true,
  },
  cancelledReset: {
    code: "ERR_CANCELLED",
    text: "This was cancelled by a reset while it was waiting. Send it again if it is still needed.",
    hint: "Nothing was sent.",
    inNode: { hint: "A message with msg.reset cancels what is waiting in a node." },
    retryable: true,
  },
  cancelledClose: {
    code: "ERR_CANCELLED",
    text: "The call was aborted, or its client was closed, before this finished. Call again if it is still needed.",
    hint: "Aborting the signal or closing the client ends what is running.",
    inNode: {
      text: "The flow was stopped or redeployed before this finished. Send it again if it is still needed.",
      hint: "Stopping or redeploying a flow ends what is running.",
    },
    retryable: true,
    unknownOutcome: {
      text: "The call was aborted, or its client was closed, while this command was running. Check the device before you try again: it may have acted.",
      hint: "Ending a request does not undo what the device has begun.",
      inNode: {
        text: "The flow was stopped or redeployed while this command was running. Check the device before you try again: it may have acted.",
      },
    },
  },
} as const satisfies Record<string, Sentence>;
