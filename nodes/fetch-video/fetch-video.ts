import type { Node, NodeAPI, NodeDef } from "node-red";
import { targetOf } from "../../src/runtime/action/command-job.ts";
import { tellRecording } from "../../src/runtime/action/deliver-video.ts";
import { deviceChoice } from "../../src/runtime/config/config-node.ts";
import { OutputFolders } from "../../src/runtime/action/output-folders.ts";
import { deliverMedium, readOutput } from "../../src/runtime/action/output.ts";
import { readSaved } from "../../src/runtime/action/saved-properties.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader } from "../../src/runtime/action/values.ts";
import { defaults, properties as table, type FetchVideoProperties } from "./fetch-video.shared.ts";

/** `dimensioner-fetch-video`: the video that the device keeps, once it is encoded, into the message or into a file. */
export default function (RED: NodeAPI): void {
  const folders = new OutputFolders(RED);

  function FetchVideoNode(this: Node, config: NodeDef & Partial<FetchVideoProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    folders.add(this, properties);
    const devices = deviceChoice(RED, properties);
    serve(RED, this, { operation: "video", acts: false, config: devices, properties }, async (job) => {
      const { client, ...chosen } = devices.choose(job, "video", false);
      const { operation, recordings } = chosen;
      const values = new ValueReader(RED, this, job.msg, operation);
      const method = values.setting("method", properties.method, table.method.of);
      const waitMs = values.number("wait", table.wait, properties.wait);
      const output = await readOutput(values, properties, operation);
      job.status.say("working", "fetching");
      const outputs = await deliverMedium(
        job,
        output,
        (onProgress) =>
          client.video(method, {
            waitMs,
            onProgress,
            signal: job.signal,
            waitSignal: job.waitSignal,
            onWaiting: () => job.status.say("waiting", "waitingForVideo"),
          }),
        {
          operation,
          peer: client.peer,
          suggestedBase: suggestedName(job.msg["transactionReference"]),
          folders,
        },
      );
      const { transactionReference: reference } = job.msg;
      const given = typeof reference === "string" && reference !== "" ? reference : null;
      tellRecording(job.msg, recordings.kept(targetOf(chosen, client.peer).machine, given));
      return outputs;
    });
  }

  RED.nodes.registerType("dimensioner-fetch-video", FetchVideoNode);
}

/** The device keeps one video and gives it no name; a reference that travels with the message tells whose it is. */
function suggestedName(reference: unknown): string {
  return typeof reference === "string" && reference !== "" ? `${reference}-video` : "video";
}
