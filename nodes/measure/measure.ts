import type { Node, NodeAPI, NodeDef } from "node-red";
import { commandOptions, deliverMeasurement } from "../../src/runtime/action/command-job.ts";
import { deviceChoice } from "../../src/runtime/config/config-node.ts";
import { readSaved } from "../../src/runtime/action/saved-properties.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { readReferences, ValueReader } from "../../src/runtime/action/values.ts";
import { defaults, type MeasureProperties } from "./measure.shared.ts";

/** `dimensioner-measure`: one message in, one measure of what lies on the table (contract: MeasureResult). */
export default function (RED: NodeAPI): void {
  function MeasureNode(this: Node, config: NodeDef & Partial<MeasureProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const devices = deviceChoice(RED, properties);
    serve(RED, this, { operation: "measure", acts: true, config: devices, properties }, async (job) => {
      const { client, operation } = devices.choose(job.msg, "measure", true);
      const references = await readReferences(new ValueReader(RED, this, job.msg, operation), properties);
      const measurement = await client.measure(references, commandOptions(job, "measuring"));
      return deliverMeasurement(
        job,
        measurement,
        references.transactionReference,
        properties.failures,
        operation,
      );
    });
  }
  RED.nodes.registerType("dimensioner-measure", MeasureNode);
}
