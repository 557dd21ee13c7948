import type { Node, NodeAPI, NodeDef } from "node-red";
import { commandOptions, targetOf } from "../../src/runtime/action/command-job.ts";
import { deliverVideo } from "../../src/runtime/action/deliver-video.ts";
import { demandReference, readParcel, readReferences } from "../../src/runtime/action/references.ts";
import { Repeats } from "../../src/runtime/action/repeats.ts";
import { readSaved } from "../../src/runtime/action/saved-properties.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader } from "../../src/runtime/action/values.ts";
import { deviceChoice } from "../../src/runtime/config/config-node.ts";
import { defaults, properties as table, type VideoControlProperties } from "./video-control.shared.ts";

/** `dimensioner-video-control`: starts, stops or cancels a recording on the local network. */
export default function (RED: NodeAPI): void {
  function VideoControlNode(this: Node, config: NodeDef & Partial<VideoControlProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const devices = deviceChoice(RED, properties);
    const repeats = new Repeats();
    serve(RED, this, { operation: "video", acts: true, config: devices, properties }, async (job) => {
      const { client, ...chosen } = devices.choose(job, "video", true);
      const { operation, recordings } = chosen;
      const values = new ValueReader(RED, this, job.msg, operation);
      const action = values.choice("action", table.action, properties.action);
      const ifBlank = values.setting("ifBlank", properties.ifBlank, table.ifBlank.of);
      const windowMs = values.number("ignoreRepeats", table.ignoreRepeats, properties.ignoreRepeats);
      const options = commandOptions(job, "sending");
      const target = targetOf(chosen, client.peer);
      const { machine } = target;
      if (action !== "start") {
        const { transactionReference: given = null } = await readReferences(values, properties);
        await recordings.during(machine, () =>
          action === "stop" ? client.stopVideo(options) : client.cancelVideo(options),
        );
        // A start for the same parcel behind it is no repeat.
        repeats.clear();
        return deliverVideo(job, target, action, given);
      }
      const references = await readParcel(values, job.msg, properties);
      const { transactionReference: reference } = references;
      if (ifBlank === "error") {
        demandReference(values, properties, references);
      }
      const wanted = { reference, scope: machine, windowMs, status: job.status };
      return repeats.unlessRepeated(wanted, async () => {
        const given = reference ?? null;
        await recordings.during(machine, () => client.startVideo(references, options), given);
        return deliverVideo(job, target, action, given);
      });
    });
  }

  RED.nodes.registerType("dimensioner-video-control", VideoControlNode);
}
