import type { Node, NodeAPI, NodeDef } from "node-red";
import { OutputFolders, deliverMedium, readOutput } from "../../src/runtime/action/output.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader, readChoice, readSaved } from "../../src/runtime/action/values.ts";
import { Previews } from "../../src/runtime/admin/preview.ts";
import { deviceChoice } from "../../src/runtime/config/config-choice.ts";
import type { SettingsReader } from "../../src/runtime/config/settings.ts";
import { type FetchImageProperties, defaults, properties as table } from "./fetch-image.shared.ts";

/** `dimensioner-fetch-image`: downloads an image of an earlier measurement into the message or a file. */
export default function (RED: NodeAPI): void {
  const folders = new OutputFolders(RED);
  const previews = new Previews(RED, "fetch-image");

  function FetchImageNode(this: Node, config: NodeDef & Partial<FetchImageProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    folders.add(this, properties);
    const devices = deviceChoice(RED, properties);
    const settings = (reader: SettingsReader) => {
      const { image, preview } = reader.read(table, properties);
      return { image, preview: preview ? previews.open(this) : undefined };
    };
    const served = { operation: "image", acts: false, config: devices, properties, settings };
    serve(RED, this, served, async (job, { image, preview }) => {
      const { client, operation } = devices.choose(job, "image", false);
      const values = new ValueReader(RED, this, job.msg, operation);
      const kind = readChoice(job.msg, operation, "image", image, table.image.of);
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
