import type { Node, NodeAPI, NodeDef } from "node-red";
import { fieldsOf } from "../../src/model/containers.ts";
import { OutputFolders, deliverMedium, readOutput } from "../../src/runtime/action/output.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader, readSaved } from "../../src/runtime/action/values.ts";
import { cloudChoice } from "../../src/runtime/config/config-choice.ts";
import { settingsOf } from "../../src/runtime/config/settings.ts";
import { type FetchMediaProperties, defaults, properties as table } from "./fetch-media.shared.ts";

/**
 * `dimensioner-fetch-media`: downloads one image or video of a transaction from the cloud into the message or a file.
 */
export default function (RED: NodeAPI): void {
  const folders = new OutputFolders(RED);

  function FetchMediaNode(this: Node, config: NodeDef & Partial<FetchMediaProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    folders.add(this, properties);
    const clouds = cloudChoice(RED, properties);
    const settings = settingsOf(table, properties);
    const served = { operation: "media", acts: false, config: clouds, properties, settings };
    serve(RED, this, served, async (job) => {
      const { client, operation } = clouds.choose(job, "media", false);
      const values = new ValueReader(RED, this, job.msg, operation);
      const transactionId = await values.required({
        field: "transactionId",
        value: properties.transactionId,
        type: properties.transactionIdType,
      });
      const contentId = await values.required({
        field: "contentId",
        value: properties.contentId,
        type: properties.contentIdType,
      });
      const output = await readOutput(values, properties, operation);
      const listed = fieldsOf(job.msg.payload);
      // Only of the cloud's own list: what is announced as a text may be one.
      const type = listed?.["contentId"] === contentId ? listed["contentType"] : undefined;
      const contentType = typeof type === "string" ? type : undefined;
      job.status.say("working", "fetching");
      return deliverMedium(
        job,
        output,
        (onProgress) =>
          client.media(transactionId, contentId, { signal: job.signal, onProgress, contentType }),
        { operation, peer: client.peer, suggestedBase: `${transactionId}-${contentId}`, folders },
      );
    });
  }

  RED.nodes.registerType("dimensioner-fetch-media", FetchMediaNode);
}
