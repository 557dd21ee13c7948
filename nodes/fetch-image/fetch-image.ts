import type { Node, NodeAPI, NodeDef } from "node-red";
import { deviceChoice } from "../../src/runtime/config/config-node.ts";
import { OutputFolders } from "../../src/runtime/action/output-folders.ts";
import { deliverMedium, readOutput } from "../../src/runtime/action/output.ts";
import { Previews } from "../../src/runtime/admin/preview.ts";
import { readSaved } from "../../src/runtime/action/saved-properties.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader } from "../../src/runtime/action/values.ts";
import { defaults, properties as table, type FetchImageProperties } from "./fetch-image.shared.ts";

/** `dimensioner-fetch-image`: a picture of an earlier measure, into the message or into a file. */
export default function (RED: NodeAPI): void {
  const folders = new OutputFolders(RED);
  const previews = new Previews(RED, "fetch-image");

  function FetchImageNode(this: Node, config: NodeDef & Partial<FetchImageProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    folders.add(this, properties);
    const devices = deviceChoice(RED, properties);
    const preview = properties.preview === true ? previews.open(this) : undefined;
    serve(RED, this, { operation: "image", acts: false, config: devices, properties }, async (job) => {
      const { client, operation } = devices.choose(job, "image", false);
      const values = new ValueReader(RED, this, job.msg, operation);
      const kind = values.choice("image", table.image, properties.image);
      const id = await values.required({
        field: "imageIdentifier",
        value: properties.imageIdentifier,
        type: properties.imageIdentifierType,
      });
      const output = await readOutput(values, properties, operation);
      job.status.say("working", "fetching");
      const outputs = await deliverMedium(
        job,
        output,
        (onProgress) => client.image(kind, id, { signal: job.signal, onProgress }),
        { operation, peer: client.peer, suggestedBase: `${id}-${kind}`, folders },
      );
      preview?.(job.msg);
      return outputs;
    });
  }

  RED.nodes.registerType("dimensioner-fetch-image", FetchImageNode);
}
