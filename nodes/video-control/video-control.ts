import type { Node, NodeAPI, NodeDef } from "node-red";
import type { References } from "../../src/model/measurement.ts";
import { commandOptions, deliverVideo } from "../../src/runtime/action/deliver.ts";
import { CommandJournal } from "../../src/runtime/action/command-journal.ts";
import { Repeats } from "../../src/runtime/action/repeats.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import {
  ValueReader,
  demandReference,
  readChoice,
  readParcel,
  readReferences,
  readSaved,
} from "../../src/runtime/action/values.ts";
import { deviceChoice } from "../../src/runtime/config/config-choice.ts";
import { settingsOf } from "../../src/runtime/config/settings.ts";
import { type VideoControlProperties, defaults, properties as table } from "./video-control.shared.ts";

/** `dimensioner-video-control`: starts, stops or cancels a recording on the local network. */
export default function (RED: NodeAPI): void {
  const journal = new CommandJournal(RED, "dimensioner-video-control");

  function VideoControlNode(this: Node, config: NodeDef & Partial<VideoControlProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const devices = deviceChoice(RED, properties);
    const repeats = new Repeats();
    const settings = settingsOf(table, properties);
    const served = { operation: "video", acts: true, config: devices, properties, settings, journal };
    serve(RED, this, served, async (job, { action: given, ifBlank, ignoreRepeatsMs }) => {
      const { client, ...target } = devices.choose(job, "video", true);
      const { operation, deviceKey, recordings } = target;
      const values = new ValueReader(RED, this, job.msg, operation);
      const action = readChoice(job.msg, operation, "action", given, table.action.of);
      const optionsFor = (references: References) =>
        commandOptions(job, { target, operation: `video ${action}`, references });
      if (action !== "start") {
        const { transactionReference = null } = await readReferences(values, properties);
        const options = optionsFor({});
        await recordings.track(deviceKey, () =>
          action === "stop" ? client.stopVideo(options) : client.cancelVideo(options),
        );
        // After another command to this device, a start for the same parcel is not a repeat.
        repeats.forgetDevice(deviceKey);
        return deliverVideo(job, target, action, transactionReference);
      }
      const references = await readParcel(values, job.msg, properties);
      const { transactionReference: reference } = references;
      if (ifBlank === "error") {
        demandReference(values, properties, references);
      }
      const wanted = { reference, scope: deviceKey, windowMs: ignoreRepeatsMs, status: job.status };
      return repeats.unlessRepeated(wanted, async () => {
        const startFor = reference ?? null;
        const options = optionsFor(references);
        await recordings.track(deviceKey, () => client.startVideo(references, options), startFor);
        return deliverVideo(job, target, action, startFor);
      });
    });
  }

  RED.nodes.registerType("dimensioner-video-control", VideoControlNode);
}
