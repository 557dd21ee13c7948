import type { ErrorCode, Outcome } from "../../src/errors/dimensioner-error.ts";

/** What the sentences of a code do not say. */
export interface ErrorFacts {
  readonly when: string;
  /** What a command with this error may have done. Reads and files have none. */
  readonly outcomes: readonly Outcome[];
  readonly remedy: string;
}

/** One entry a code: a code that is new does not compile until it has one. */
export const errorFacts: Readonly<Record<ErrorCode, ErrorFacts>> = {
  ERR_CONFIG: {
    when: "The node or its config node is not set right: nothing chosen, an address or a number that cannot be one, no token, no folder; a newer version of the package has saved it; or the generation of the device has no such thing in its API.",
    outcomes: ["not-sent"],
    remedy:
      "Open the node that is named, correct the setting, deploy. The same is shown under the node at the deploy already.",
  },
  ERR_INPUT: {
    when: "The message lacks a value, or has one that cannot be right: an empty id, an id with a path in it, a registration code that is not 8 letters or digits, the name of a dock that is not deployed.",
    outcomes: ["not-sent"],
    remedy: "Put a debug node in front and look where the value should come from. Nothing was sent.",
  },
  ERR_UNREACHABLE: {
    when: "No connection came about: nobody listens there, no such host, no answer within 10 s (or the time-out, where that is shorter), a certificate that is not trusted, a proxy that does not connect.",
    outcomes: ["not-sent"],
    remedy:
      "Check address, power and cable, and Enable Local API on a newer device. **Test connection** in the config node says more. Nothing was sent: the message may be sent again.",
  },
  ERR_TIMEOUT: {
    when: "The request went out and the answer was not whole in time; or a download stood still for that long.",
    outcomes: ["unknown"],
    remedy:
      "After a command: look at the machine first. After a read: send the message again, or raise the time-out in the config node.",
  },
  ERR_CONNECTION_LOST: {
    when: "The connection ended before the whole answer was there.",
    outcomes: ["unknown"],
    remedy:
      "After a command: look at the machine first. Check the network, and whether the machine has restarted.",
  },
  ERR_UNAUTHORIZED: {
    when: "The cloud answered 401.",
    outcomes: ["refused"],
    remedy: "Make a new token in the cloud's portal and paste it into the cloud config node.",
  },
  ERR_WRONG_MODE: {
    when: "The newer device answered 401 or 403 to a video request. It has no password on the local network: outside the video modes it refuses all of them, and stop in Video with Measurement too.",
    outcomes: ["refused"],
    remedy:
      "Set the operating mode in the device's portal. In Video with Measurement, a measurement ends the recording.",
  },
  ERR_BAD_DEVICE_REFERENCE: {
    when: "The cloud answered 400 to a remote trigger: it does not know the registration code, or the device cannot do this now.",
    outcomes: ["refused"],
    remedy:
      "Compare the code with the portal or with **device list**; for video, check that the device is in a video mode.",
  },
  ERR_DEVICE_TIMEOUT: {
    when: "The cloud answered 504 to a remote trigger: the device did not answer the cloud in time.",
    outcomes: ["unknown"],
    remedy:
      "Look at the machine first: it may have measured or begun to film. Then check its power and its internet.",
  },
  ERR_NO_VIDEO: {
    when: "The device has no saved video (404), also after the wait.",
    outcomes: [],
    remedy:
      "A video is on the device after a stop in Video Only, and after a failed measurement in Video with Measurement; after one that succeeded it is in the cloud. Wait longer if it may still be encoding.",
  },
  ERR_NOT_FOUND: {
    when: "Any other 404. On a measure of a device: Enable Local API is off, or the generation is set wrong.",
    outcomes: ["refused"],
    remedy: "Check the id and where it comes from. Media are uploaded a while after they were taken.",
  },
  ERR_HTTP: {
    when: "Any other status than the API promises. A redirect counts as one: it is never followed.",
    outcomes: ["refused", "unknown"],
    remedy:
      "`cause.statusCode` is the status. After a redirect enter the right address; after 408, 429 or 5xx look at the machine and try again later.",
  },
  ERR_BAD_RESPONSE: {
    when: "What came is not what the API promises: no HTTP, no JSON, other fields, a web page, nothing, only a part, or a medium that ends too early.",
    outcomes: ["unknown"],
    remedy:
      "Mostly something else answers at that address: a sign-in page of the network, a proxy, another machine. Check the address with **Test connection** in the config node.",
  },
  ERR_TOO_LARGE: {
    when: "An answer over its limit: 5 MB of JSON, a list of 10,000 items, 256 MB into the message.",
    outcomes: ["unknown"],
    remedy:
      "Save large media to a file: there is no limit there. Otherwise check what answers at that address.",
  },
  ERR_MEASURE_FAILED: {
    when: "The device answered, and the measurement failed: an error code, no object, or an object that could not be measured.",
    outcomes: ["failed"],
    remedy: "The result is on `msg.payload`. Place the parcel again and measure once more.",
  },
  ERR_MEDIA_INCOMPLETE: {
    when: "The wait for media is over and something that was expected is not there.",
    outcomes: [],
    remedy:
      "What there is is on `msg.payload`. Wait longer, or ask again later: media are uploaded a while after they were taken.",
  },
  ERR_QUEUE_FULL: {
    when: "As many commands wait for this device as its queue limit allows.",
    outcomes: ["not-sent"],
    remedy: "Send fewer at once, or raise the limit in the config node. Nothing was sent.",
  },
  ERR_EXPIRED: {
    when: "The command waited longer for its turn than the config node's longest wait.",
    outcomes: ["not-sent"],
    remedy:
      "Another parcel may be on the table by now, so decide whether the scan still counts. Nothing was sent.",
  },
  ERR_CANCELLED: {
    when: "A reset, a deploy or a stop ended it while it waited or ran.",
    outcomes: ["not-sent", "unknown"],
    remedy:
      "Where the outcome is `unknown`, look at the machine first. A job that an archive node has accepted goes on by itself: do not send it again (`retryable` is false then).",
  },
  ERR_FILE: {
    when: "The disk: full, no permission, the name is taken, the folder is missing or no folder, a link leads out of it, another program writes to the archive.",
    outcomes: [],
    remedy:
      "`cause.hint` has the path. The folder to save in is never created, since it may be a share that is not mounted.",
  },
};
