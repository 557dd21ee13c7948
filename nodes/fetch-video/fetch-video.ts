import type { Node, NodeAPI, NodeDef } from "node-red";
import { eachTransfer } from "../../src/media/save-to-file.ts";
import { tellRecording } from "../../src/runtime/action/deliver.ts";
import { OutputFolders, deliverMedium, readOutput } from "../../src/runtime/action/output.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader, asReference, readSaved } from "../../src/runtime/action/values.ts";
import { deviceChoice } from "../../src/runtime/config/config-choice.ts";
import type { RecordingStatus } from "../../src/runtime/config/recordings.ts";
import { settingsOf } from "../../src/runtime/config/settings.ts";
import { type FetchVideoProperties, defaults, properties as table } from "./fetch-video.shared.ts";

/**
 * `dimensioner-fetch-video`: downloads the video that the device keeps, once it is encoded, into the message or a file.
 */
export default function (RED: NodeAPI): void {
  const folders = new OutputFolders(RED);

  function FetchVideoNode(this: Node, config: NodeDef & Partial<FetchVideoProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    folders.add(this, properties);
    const devices = deviceChoice(RED, properties);
    const settings = settingsOf(table, properties);
    const served = { operation: "video", acts: false, config: devices, properties, settings };
    serve(RED, this, served, async (job, { method, waitMs }) => {
      const { client, operation, deviceKey, recordings } = devices.choose(job, "video", false);
      const values = new ValueReader(RED, this, job.msg, operation);
      const output = await readOutput(values, properties, operation);
      const reference = asReference(job.msg["transactionReference"]);
      let recording: RecordingStatus | null = null;
      // Once the transfer has ended, the next start may come before the video is in its file.
      const noteRecording = (): void => {
        recording = recordings.savedVideoOf(deviceKey, reference ?? null);
      };
      job.status.say("working", "fetching");
      const outputs = await deliverMedium(
        job,
        output,
        async (onProgress) => {
          const download = await client.video(method, {
            waitMs,
            onProgress,
            signal: job.signal,
            waitSignal: job.waitSignal,
            onWaiting: () => job.status.say("waiting", "waitingForVideo"),
          });
          return eachTransfer(download, noteRecording);
        },
        {
          operation,
          peer: client.peer,
          // The device keeps one video without a name. The reference on the message says which parcel it shows.
          suggestedBase: reference === undefined ? "video" : `${reference}-video`,
          folders,
        },
      );
      tellRecording(job.msg, recording, "unknown");
      return outputs;
    });
  }

  RED.nodes.registerType("dimensioner-fetch-video", FetchVideoNode);
}
