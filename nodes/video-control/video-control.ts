import type { Node, NodeAPI, NodeDef } from "node-red";
import { commandOptions, deliverVideo } from "../../src/runtime/action/command-job.ts";
import { deviceChoice } from "../../src/runtime/config/config-node.ts";
import { readSaved } from "../../src/runtime/action/saved-properties.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { readReferences, ValueReader } from "../../src/runtime/action/values.ts";
import { defaults, properties as table, type VideoControlProperties } from "./video-control.shared.ts";

/** `dimensioner-video-control`: starts, stops or cancels a recording on the local network. */
export default function (RED: NodeAPI): void {
  function VideoControlNode(this: Node, config: NodeDef & Partial<VideoControlProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const devices = deviceChoice(RED, properties);
    serve(RED, this, { operation: "video", acts: true, config: devices, properties }, async (job) => {
      const { client, operation } = devices.choose(job.msg, "video", true);
      const values = new ValueReader(RED, this, job.msg, operation);
      const action = values.choice("action", table.action, properties.action);
      const references = await readReferences(values, properties);
      const options = commandOptions(job, "sending");
      switch (action) {
        case "start":
          await client.startVideo(references, options);
          break;
        case "stop":
          await client.stopVideo(options);
          break;
        case "cancel":
          await client.cancelVideo(options);
          break;
      }
      return deliverVideo(job, action, references.transactionReference);
    });
  }

  RED.nodes.registerType("dimensioner-video-control", VideoControlNode);
}
