import type { Node, NodeAPI, NodeDef } from "node-red";
import { billableWeightOf, billingFacts, readWeight } from "../../src/billing/billable-weight.ts";
import { dayHere } from "../../src/rules/instants.ts";
import { type Preset, isTableOld, presets } from "../../src/billing/tariffs/presets.ts";
import type { WeightRule } from "../../src/billing/tariffs/rule.ts";
import { field, phrase } from "../../src/errors/interpolation.ts";
import { fieldsOf } from "../../src/model/containers.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader, asText, readChoice, readSaved, readSetting } from "../../src/runtime/action/values.ts";
import { extraLimits, ownRuleOf, readTableFile } from "../../src/runtime/billing/billing-settings.ts";
import { folderTypes } from "../../src/properties/property-table.ts";
import { noConfig } from "../../src/runtime/config/config-choice.ts";
import type { SettingsReader } from "../../src/runtime/config/settings.ts";
import { errorBeforeSending, show, type Message } from "../../src/runtime/messages.ts";
import { NodeStatus } from "../../src/runtime/status/node-status.ts";
import { type BillableWeightProperties, defaults, properties as table } from "./billable-weight.shared.ts";

const operation = { ...billingFacts, acts: false } as const;
const statuses = {
  dimensional: "billedDimensional",
  actual: "billedActual",
  minimum: "billedMinimum",
} as const;

/** A number stays one: only of a number is it known that it may have the noise of floating-point calculations. */
function numberOrText(value: unknown): number | string | undefined {
  return typeof value === "number" ? value : asText(value);
}

/** A message may choose a carrier, but no file. */
const choices = table.preset.of.filter((one) => one !== "file");

/** When the measure node has asked the device, by this computer's clock; null if the message does not say it. */
function askedAtOf(measuredBy: unknown): Date | null {
  const at = Date.parse(String(fieldsOf(measuredBy)?.["sentAt"]));
  return Number.isNaN(at) ? null : new Date(at);
}

function ruleOf(
  msg: Message,
  preset: Exclude<BillableWeightProperties["preset"], "file">,
  ownRule: WeightRule,
): Preset | WeightRule {
  const chosen = readChoice(msg, operation, "preset", preset, choices);
  return chosen === "own" ? ownRule : presets[chosen];
}

/** `dimensioner-billable-weight`: what a carrier bills for the parcel that was measured (contract: msg.billable). */
export default function (RED: NodeAPI): void {
  function BillableWeightNode(this: Node, config: NodeDef & Partial<BillableWeightProperties>): void {
    RED.nodes.createNode(this, config);
    const saved = readSaved(defaults, config);
    const settings = (reader: SettingsReader) => {
      const read = reader.read(table, saved);
      for (const name of ["tableFile", "carrier"] as const) {
        if (read.preset === "file" && saved[name].trim() === "") {
          throw reader.invalid(name, phrase("empty"));
        }
      }
      return { ...read, ownRule: ownRuleOf(read), limits: extraLimits(read, reader) };
    };
    const status = new NodeStatus(RED, this);
    const served = { ...operation, status, config: noConfig, properties: saved, settings };
    // No message may choose a file.
    const pathOf = (values: ValueReader) => {
      const type = readSetting(operation, "tableFile", saved.tableFileType, folderTypes);
      return values.required({ field: "tableFile", value: saved.tableFile, type });
    };
    const carrierOf = async (values: ValueReader): Promise<Preset> => {
      const carriers = await readTableFile(await pathOf(values));
      const name = await values.required({ field: "carrier", value: saved.carrier, type: saved.carrierType });
      const found = carriers.get(name);
      if (found === undefined) {
        const problem = phrase("oneOf", { choices: [...carriers.keys()] });
        throw errorBeforeSending(operation, "inputValue", {
          field: field("carrier"),
          value: show(name),
          problem,
        });
      }
      return found;
    };
    const bill = async (msg: Message, read: ReturnType<typeof settings>) => {
      const { ownRule, weight, limits, requireLegalForTrade } = read;
      const values = new ValueReader(RED, this, msg, operation);
      const typed = { field: "weightValue", value: saved.weightValue, type: saved.weightValueType } as const;
      const given = weight === "given" ? await values.read(typed, numberOrText) : undefined;
      return billableWeightOf(msg.payload, {
        rule: read.preset === "file" ? await carrierOf(values) : ruleOf(msg, read.preset, ownRule),
        weightFrom: weight,
        given: readWeight(given, read.weightUnit),
        scan: msg["scan"],
        mustBeLegal: requireLegalForTrade,
        extras: limits,
        today: dayHere(new Date()),
        askedAt: askedAtOf(msg["measuredBy"]),
      });
    };
    serve(RED, this, served, async ({ msg }, read) => {
      try {
        const billable = await bill(msg, read);
        const isOld = billable.ruleChecked !== null && isTableOld(billable.ruleChecked, dayHere(new Date()));
        const figures = { count: billable.weight, unit: billable.unit };
        if (billable.note !== null) {
          status.say("waiting", "billedClocks", figures);
        } else {
          status.say(
            isOld ? "waiting" : "done",
            isOld ? "billedOldTable" : statuses[billable.basis],
            figures,
          );
        }
        msg["billable"] = billable;
        return [msg];
      } catch (error) {
        // That of an earlier measurement, which archive would write into the package.
        delete msg["billable"];
        throw error;
      }
    });
    if (saved.preset === "file" && saved.tableFile.trim() !== "") {
      // At the deploy, so that nobody finds out with the first parcel. A message brings the error itself.
      const path = async (): Promise<string> => pathOf(new ValueReader(RED, this, { _msgid: "" }, operation));
      void path()
        .then(readTableFile)
        .catch(() => status.say("failed", "failed.ERR_CONFIG"));
    }
  }

  RED.nodes.registerType("dimensioner-billable-weight", BillableWeightNode);
}
