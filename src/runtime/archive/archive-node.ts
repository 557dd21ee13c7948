import type { NodeAPI } from "node-red";
import type { OpenJob } from "../../jobs/table/open-job.ts";
import type { Archived } from "../../jobs/seal/job-results.ts";
import type { DeviceSource, MediaSource } from "../../jobs/steps/media-source.ts";
import type { IntentFacts } from "../../vault/packages/intent.ts";
import { archivedFiles } from "../../vault/packages/archived-files.ts";
import type { CloudClient } from "../../cloud/client.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { field, phrase } from "../../errors/interpolation.ts";
import type { ArchivedPackage } from "../../model/shapes.ts";
import { deviceChoice, type ConfigChoice } from "../config/config-choice.ts";
import { deployed } from "../config/deployed.ts";

/** The package as an archive node puts it on msg.payload. `linkTo` gives the address of a package on the evidence page. */
export function describePackage(
  { folder, addressOf, path: location, manifest, packages, complete, wasThere }: Archived,
  linkTo: (packageId: string) => string | null,
): ArchivedPackage {
  const { transactionId, references, job, supplements = null } = manifest;
  const files = packages.flatMap((one) => archivedFiles(addressOf(one.path), one.manifest));
  return {
    packageId: job,
    location,
    folder,
    manifest: addressOf(`${location}/manifest.json`),
    transactionId,
    transactionReference: references.transactionReference,
    files,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    complete,
    alreadyArchived: wasThere,
    supplements: supplements === null ? null : addressOf(supplements.path),
    link: linkTo(job),
  };
}

/**
 * Returns the cloud of a job, also of one that an earlier process accepted. Throws ERR_CONFIG if it is not deployed: no
 * other cloud is used in its place.
 */
export function jobCloud(
  clouds: ConfigChoice<CloudClient>,
  { intent: { cloudName, origin } }: OpenJob,
): MediaSource {
  const { client } = clouds.chooseNamed(cloudName, "archive", false);
  if (client.peer.origin !== origin) {
    throw new DimensionerError(
      "configInvalid",
      { surface: "config", operation: "archive" },
      {
        what: phrase("cloud"),
        field: field("baseUrl"),
        problem: origin === null ? phrase("jobWaitsForOther") : phrase("jobWaitsFor", { origin }),
      },
    );
  }
  return client;
}

/**
 * Returns the device that measured for a job. Throws ERR_CONFIG if it is not deployed: a message selects a deployed
 * device, and nothing in it is used as an address.
 */
export function jobDevice(
  RED: NodeAPI,
  id: string,
): DeviceSource & { readonly hasImages: boolean; readonly takesReferences: boolean } {
  const devices = deviceChoice(RED, { device: id, deviceFrom: "" });
  const { client, recordings, deviceKey } = devices.chooseNamed(null, "archive", false);
  return {
    peer: client.peer,
    hasImages: client.generation === "newer",
    takesReferences: client.takesReferences,
    image: (...given) => client.image(...given),
    keepsVideoOf: (reference) => recordings.savedVideoOf(deviceKey, reference)?.recording === "own",
    video: (options) => client.video("download", options),
  };
}

/** Returns the device that measured for a job, with the video of the one that has filmed. Throws like jobDevice. */
export function jobDevices(RED: NodeAPI, { measuredBy, recordedBy = null }: IntentFacts): DeviceSource {
  const measured = jobDevice(RED, measuredBy?.id ?? "");
  if (recordedBy === null || measuredBy === null || measuredBy.videoAt === null) {
    return measured;
  }
  const { keepsVideoOf, video } = jobDevice(RED, recordedBy.id);
  return { ...measured, keepsVideoOf, video };
}

/** Whether a node with this id is deployed and enabled; inside a subflow the id consists of several ids. */
export function isDeployed(RED: NodeAPI, id: string): boolean {
  if (deployed(RED, id) !== null) {
    return true;
  }
  // A node that a deploy is about to start again is only defined yet, and so is one that is disabled.
  const places = new Map<string, string>();
  const disabledTabs = new Set<string>();
  RED.nodes.eachNode((definition) => {
    if (definition.type === "tab" && "disabled" in definition && definition.disabled === true) {
      disabledTabs.add(definition.id);
    }
    if (!("d" in definition && definition.d === true)) {
      places.set(definition.id, definition.z);
    }
  });
  const isEnabled = (part: string): boolean => {
    const place = places.get(part);
    return places.has(part) && (place === undefined || !disabledTabs.has(place));
  };
  return isEnabled(id) || (id.includes("-") && id.split("-").every(isEnabled));
}
