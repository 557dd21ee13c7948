import type { ErrorCode, Outcome } from "./dimensioner-error.ts";

/** Facts of an error code that its sentences do not contain. */
export interface ErrorFacts {
  readonly when: string;
  /** The outcomes of a command with this error. Reads and files have none. */
  readonly outcomes: readonly Outcome[];
  readonly remedy: string;
}

/** One entry for each code: a new code does not compile without one. */
export const errorFacts: Readonly<Record<ErrorCode, ErrorFacts>> = {
  ERR_CONFIG: {
    when: "The node or its config node is not set up correctly: nothing is selected, an address or a number is not valid, or the token or the folder is missing. Also: a newer version of @dimflow/node-red-dimensioner saved the node, or the device's generation does not have this in its API.",
    outcomes: ["not-sent"],
    remedy:
      "Open the node that is named, correct the setting and deploy. The same problem is shown under the node at deploy.",
  },
  ERR_INPUT: {
    when: "The message lacks a value, or has one that is not valid: an empty ID, an ID with a path in it, a registration code that is not 8 letters or digits, the name of a dock that is not deployed.",
    outcomes: ["not-sent"],
    remedy: "Connect a Debug node in front and check where the value should come from. Nothing was sent.",
  },
  ERR_UNREACHABLE: {
    when: "No connection: it is refused, the host is unknown, there is no response within 10 s (or the timeout, if that is shorter), the certificate is not trusted, the port has no HTTPS, or the proxy does not connect.",
    outcomes: ["not-sent"],
    remedy:
      "Check the address, the power and the cable, and Enable Local API on a newer device. **Test connection** in the config node says more. Nothing was sent: the message may be sent again.",
  },
  ERR_TIMEOUT: {
    when: "The request was sent and the response was not complete in time, or a download made no progress for that long.",
    outcomes: ["unknown"],
    remedy:
      "After a command: check the device first. After a read: send the message again, or raise the timeout in the config node.",
  },
  ERR_CONNECTION_LOST: {
    when: "The connection ended before the response was complete.",
    outcomes: ["unknown"],
    remedy:
      "After a command: check the device first. Check the network, and whether the device has restarted.",
  },
  ERR_UNAUTHORIZED: {
    when: "The cloud answered 401.",
    outcomes: ["refused"],
    remedy: "Create a new token in the cloud portal and paste it into the cloud config node.",
  },
  ERR_WRONG_MODE: {
    when: "The newer device answered 401 or 403 to a video request. It has no password on the local network: outside the video modes it refuses all of them, and stop in Video with Measurement too.",
    outcomes: ["refused"],
    remedy:
      "Set the operating mode in the device's portal. In Video with Measurement, a measurement ends the recording.",
  },
  ERR_BAD_DEVICE_REFERENCE: {
    when: "The cloud answered 400 to a remote trigger: it does not know the registration code, or the device cannot do this now, for example in its operating mode.",
    outcomes: ["refused"],
    remedy:
      "Compare the code with the portal or with **device list**, and check the operating mode: video needs a video mode, and a device in Video Only does not measure.",
  },
  ERR_DEVICE_TIMEOUT: {
    when: "The cloud answered 504 to a remote trigger: the device did not answer the cloud in time.",
    outcomes: ["unknown"],
    remedy:
      "Check the device first: it may have measured or started recording. Then check its power and its internet connection.",
  },
  ERR_NO_VIDEO: {
    when: "The device has no saved video (404), even after the wait.",
    outcomes: [],
    remedy:
      "A video is on the device after a stop in Video Only, and after a failed measurement in Video with Measurement; after a successful one it is in the cloud. Wait longer if it may still be encoding. A device whose Enable Local API is off answers the same.",
  },
  ERR_NOT_FOUND: {
    when: "Any other 404. From a device: Enable Local API is off, the generation is set wrong, or there is no such image. Or no package was found.",
    outcomes: ["refused"],
    remedy:
      "From a device: turn on Enable Local API and check the generation. From the cloud: check the ID and where it comes from; images and videos reach the cloud with a delay.",
  },
  ERR_HTTP: {
    when: "Any other status than the API promises. A redirect counts as one: it is never followed.",
    outcomes: ["refused", "unknown"],
    remedy:
      "`cause.statusCode` is the status. After a redirect, enter the correct address; after 408, 429 or 5xx, check the device and try again later.",
  },
  ERR_BAD_RESPONSE: {
    when: "The response is not what the API promises: not HTTP, not JSON, other fields, a web page, nothing, only a part, or an image or video that ends too early. Or its status is one of success, and it says itself that the request has failed.",
    outcomes: ["refused", "failed", "unknown"],
    remedy:
      "Usually something else answers at that address: a sign-in page of the network, a proxy, another device. Check the address with **Test connection** in the config node. If the outcome is `failed`, do what the message says.",
  },
  ERR_TOO_LARGE: {
    when: "The response exceeds its limit: 5 MB of JSON, a list of 10,000 items, or 256 MB into the message.",
    outcomes: ["unknown"],
    remedy:
      "Save large images and videos to a file: there is no limit there. Otherwise check what answers at that address.",
  },
  ERR_MEASURE_FAILED: {
    when: "The device answered, and the measurement failed: an error code, no object, or an object that could not be measured.",
    outcomes: ["failed"],
    remedy:
      "The result is in `msg.payload`. Reposition the parcel and measure again. If no parcel can be measured, check the operating mode: a device in Video Only never measures.",
  },
  ERR_MEDIA_INCOMPLETE: {
    when: "The wait for media is over, and something that was expected has not arrived.",
    outcomes: [],
    remedy:
      "What was found is in `msg.payload` of **media list**, and of an **archive** node's transaction in the cloud, unless archiving the message again needs what was there. Wait longer, or ask again later: images and videos reach the cloud with a delay.",
  },
  ERR_QUEUE_FULL: {
    when: "Too much is waiting: commands for this device (its queue limit), messages in one node (1,000; in **evidence** 100, in **archive** 11,000), their data (1,000 MB), or open archive jobs in a store (10,000).",
    outcomes: ["not-sent"],
    remedy:
      "Send fewer at once, hand over large media as files, or raise the queue limit in the config node if it is the queue of a device. No command was sent.",
  },
  ERR_EXPIRED: {
    when: "The command waited longer for its turn than the config node allows. Or a part of a sequence reached **archive** too late: archive it with a separate message.",
    outcomes: ["not-sent"],
    remedy:
      "After a command: another parcel may be on the table by now, so decide whether the scan still counts. Nothing was sent.",
  },
  ERR_CANCELLED: {
    when: "A reset, a deploy or a stop ended it while it was waiting or running. If all flows were stopped, a Catch node gets it after the next start; where its node is gone then, and when Node-RED ends, it is in the log.",
    outcomes: ["not-sent", "unknown"],
    remedy:
      "If the outcome is `unknown`, check the device first. A job that an archive node has accepted continues by itself: do not send it again (`retryable` is false then).",
  },
  ERR_FILE: {
    when: "The disk: it is full, permission is missing, the name is taken, the folder is missing or is not a folder, a link leads out of it, or it does not respond.",
    outcomes: [],
    remedy:
      "`cause.hint` usually has the path. The folder to save in is never created, since it may be a share that is not mounted.",
  },
  ERR_STORE: {
    when: "The database of a store: in use by another process, damaged, written by a newer version, full, no permission, no answer. Or its object store: no connection, no such bucket, no permission, too busy.",
    outcomes: [],
    remedy:
      "The message names the database or the object store. Packages are complete without the database. Unless the database is damaged, everything that was stored before is safe; if it is damaged, restore a backup, or rebuild it from the packages: open jobs and unhandled records are lost then.",
  },
  ERR_NOT_BILLABLE: {
    when: "A parcel has no billable weight: its measurement failed, is of several objects, has no weight, was entered by hand, or is not certainly legal for trade where that is required.",
    outcomes: [],
    remedy:
      "Put the parcel aside, or measure it again as the message says. The measurement stays in `msg.payload`.",
  },
};
