import { randomUUID } from "node:crypto";
import type { Node, NodeAPI, NodeDef } from "node-red";
import { field, phrase, verbatim } from "../../src/errors/interpolation.ts";
import { isTag } from "../../src/model/local-measurement.ts";
import { commandOptions, deliverMeasurement } from "../../src/runtime/action/deliver.ts";
import { CommandJournal } from "../../src/runtime/action/command-journal.ts";
import { Repeats } from "../../src/runtime/action/repeats.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import {
  ValueReader,
  asText,
  demandReference,
  readParcel,
  readSaved,
} from "../../src/runtime/action/values.ts";
import { deviceChoice } from "../../src/runtime/config/config-choice.ts";
import { settingsOf } from "../../src/runtime/config/settings.ts";
import { type Operation, errorBeforeSending, show, type Message } from "../../src/runtime/messages.ts";
import { momentNow } from "../../src/time/clocks.ts";
import { type MeasureProperties, defaults, properties as table } from "./measure.shared.ts";

/** `dimensioner-measure`: measures once, for each message, what is on the table (contract: MeasureResult). */
export default function (RED: NodeAPI): void {
  const journal = new CommandJournal(RED, "dimensioner-measure");

  function MeasureNode(this: Node, config: NodeDef & Partial<MeasureProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const devices = deviceChoice(RED, properties);
    const repeats = new Repeats();
    const served = {
      operation: "measure",
      acts: true,
      config: {
        problem: () => devices.problem() ?? (isTagTaken(properties) ? "failed.ERR_CONFIG" : undefined),
        surface: () => devices.surface(),
      },
      properties,
      settings: settingsOf(table, properties),
      journal,
    } as const;
    serve(RED, this, served, async (job, { ifBlank, ignoreRepeatsMs, failures, tag: tagged }) => {
      const { client, ...target } = devices.choose(job, "measure", true);
      const { operation, deviceKey, recordings } = target;
      const values = new ValueReader(RED, this, job.msg, operation);
      if (isTagTaken(properties)) {
        const setting = { what: phrase("node"), field: field("tag"), problem: phrase("referenceTaken") };
        throw errorBeforeSending(operation, "configInvalid", setting);
      }
      const tag = tagged === "none" || !client.takesReferences ? null : tagOf(job.msg, operation);
      const references = await readParcel(values, job.msg, properties);
      const { transactionReference: reference } = references;
      if (ifBlank === "error") {
        demandReference(values, properties, references);
      }
      const wanted = { reference, scope: deviceKey, windowMs: ignoreRepeatsMs, status: job.status };
      return repeats.unlessRepeated(wanted, async () => {
        const given = client.takesReferences ? references : {};
        const sent = tag === null || tagged === "none" ? given : { ...given, [tagged]: tag };
        let sentAt = momentNow();
        const onTurn = (): void => {
          sentAt = momentNow();
        };
        const options = commandOptions(job, { target, operation: "measure", references: sent, tag, onTurn });
        const measurement = await recordings.track(deviceKey, () => client.measure(sent, options));
        return deliverMeasurement(job, target, { measurement, reference, sent, sentAt, tag, failures });
      });
    });
  }
  RED.nodes.registerType("dimensioner-measure", MeasureNode);
}

/** A reference that carries the tag cannot also carry a value of the flow. */
function isTagTaken(properties: MeasureProperties): boolean {
  return properties.tag !== "none" && properties[properties.tag] !== "";
}

/** The ID that the message gives to its measurement, or else one that nobody has yet. Throws ERR_INPUT for what cannot be unique. */
function tagOf({ tag }: Message, operation: Operation): string {
  const given = asText(tag);
  if (given !== undefined && !isTag(given)) {
    const refused = { field: verbatim("msg.tag"), value: show(given), problem: phrase("notTag") };
    throw errorBeforeSending(operation, "inputValue", refused);
  }
  return given ?? randomUUID();
}
