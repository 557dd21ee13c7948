import type { Node, NodeAPI, NodeDef } from "node-red";
import { commandOptions, deliverMeasurement, deliverVideo } from "../../src/runtime/action/command-job.ts";
import { cloudChoice } from "../../src/runtime/config/config-node.ts";
import { readSaved } from "../../src/runtime/action/saved-properties.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { readReferences, ValueReader } from "../../src/runtime/action/values.ts";
import { defaults, properties as table, type RemoteTriggerProperties } from "./remote-trigger.shared.ts";

/** `dimensioner-remote-trigger`: has the cloud start, stop or cancel a recording, or measure, on a registered device. */
export default function (RED: NodeAPI): void {
  function RemoteTriggerNode(this: Node, config: NodeDef & Partial<RemoteTriggerProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const clouds = cloudChoice(RED, properties);
    serve(RED, this, { operation: "remote trigger", acts: true, config: clouds, properties }, async (job) => {
      const { client, operation } = clouds.choose(job.msg, "remote trigger", true);
      const values = new ValueReader(RED, this, job.msg, operation);
      const action = values.choice("action", table.action, properties.action);
      const device = await values.required({
        field: "deviceReference",
        value: properties.deviceReference,
        type: properties.deviceReferenceType,
      });
      const references = await readReferences(values, {
        transactionReference: properties.transactionReference,
        transactionReferenceType: properties.transactionReferenceType,
        customReference1: properties.cRef1,
        customReference1Type: properties.cRef1Type,
        customReference2: properties.cRef2,
        customReference2Type: properties.cRef2Type,
        customReference3: properties.cRef3,
        customReference3Type: properties.cRef3Type,
      });
      const reference = references.transactionReference;
      if (action === "measure") {
        const options = commandOptions(job, "measuring");
        const given = values.present("transactionReference", reference);
        const measurement = await client.measure(device, given, options);
        job.msg["transactionId"] = measurement.result.transactionId;
        return deliverMeasurement(job, measurement, given, properties.failures, operation);
      }
      const options = commandOptions(job, "sending");
      switch (action) {
        case "start":
          values.present("transactionReference", reference);
          await client.startVideo(device, references, options);
          break;
        case "stop":
          await client.stopVideo(device, options);
          break;
        case "cancel":
          await client.cancelVideo(device, options);
          break;
      }
      return deliverVideo(job, action, reference);
    });
  }

  RED.nodes.registerType("dimensioner-remote-trigger", RemoteTriggerNode);
}
