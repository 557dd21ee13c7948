import type { Node, NodeAPI, NodeDef } from "node-red";
import { readExpected } from "../../src/cloud/expected-media.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { verbatim } from "../../src/errors/interpolation.ts";
import { sequenceOf } from "../../src/runtime/action/message.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader, readSaved } from "../../src/runtime/action/values.ts";
import { cloudChoice } from "../../src/runtime/config/config-choice.ts";
import { settingsOf } from "../../src/runtime/config/settings.ts";
import { type MediaListProperties, defaults, properties as table } from "./media-list.shared.ts";

/** `dimensioner-media-list`: lists the images and videos of a transaction, once all expected ones are there. */
export default function (RED: NodeAPI): void {
  function MediaListNode(this: Node, config: NodeDef & Partial<MediaListProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const clouds = cloudChoice(RED, properties);
    const settings = settingsOf(table, properties);
    const served = { operation: "media list", acts: false, config: clouds, properties, settings };
    serve(RED, this, served, async (job, { emit, waitMs }) => {
      const { msg, signal, waitSignal, status } = job;
      const { client, operation } = clouds.choose(job, "media list", false);
      const values = new ValueReader(RED, this, msg, operation);
      const transactionId = await values.required({
        field: "transactionId",
        value: properties.transactionId,
        type: properties.transactionIdType,
      });
      const contentType = await values.optional({
        field: "contentType",
        value: properties.contentType,
        type: properties.contentTypeType,
      });
      status.say("working", "fetching");
      const { items, missing, notFound } = await client.waitForMedia(transactionId, {
        contentType,
        waitMs,
        signal,
        waitSignal,
        expect: readExpected(properties.expect),
        onWaiting: () => status.say("waiting", "waitingForMedia"),
      });
      if (missing.length > 0) {
        msg.payload = items;
        throw new DimensionerError(
          "mediaIncomplete",
          {
            surface: "cloud",
            operation: operation.operation,
            ...(notFound === undefined ? {} : { statusCode: notFound.details.statusCode, cause: notFound }),
          },
          { seconds: waitMs / 1000, missing: missing.map(verbatim) },
        );
      }
      status.say("done", "items", { count: items.length });
      if (emit === "array") {
        msg.payload = items;
        return [msg];
      }
      const each = items.map((payload) => {
        const { contentId, contentType } = payload;
        return { payload, contentId, contentType };
      });
      return [sequenceOf(RED, msg, operation, each)];
    });
  }

  RED.nodes.registerType("dimensioner-media-list", MediaListNode);
}
