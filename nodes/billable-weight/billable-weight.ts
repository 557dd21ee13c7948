import type { Node, NodeAPI, NodeDef } from "node-red";
import { billableWeightOf, billingFacts, dayHere, readWeight } from "../../src/billing/billable-weight.ts";
import { isTableOld } from "../../src/billing/tariffs/presets.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader, asText, readChoice, readSaved } from "../../src/runtime/action/values.ts";
import { extraLimits, ownRuleOf } from "../../src/runtime/billing/billing-settings.ts";
import { noConfig } from "../../src/runtime/config/config-choice.ts";
import type { SettingsReader } from "../../src/runtime/config/settings.ts";
import type { Message } from "../../src/runtime/messages.ts";
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

/** `dimensioner-billable-weight`: what a carrier bills for the parcel that was measured (contract: msg.billable). */
export default function (RED: NodeAPI): void {
  function BillableWeightNode(this: Node, config: NodeDef & Partial<BillableWeightProperties>): void {
    RED.nodes.createNode(this, config);
    const saved = readSaved(defaults, config);
    const settings = (reader: SettingsReader) => {
      const read = reader.read(table, saved);
      return { ...read, ownRule: ownRuleOf(read), limits: extraLimits(read, reader) };
    };
    const served = { ...operation, config: noConfig, properties: saved, settings };
    const bill = async (msg: Message, read: ReturnType<typeof settings>) => {
      const { ownRule, weight, limits, requireLegalForTrade } = read;
      const values = new ValueReader(RED, this, msg, operation);
      const preset = readChoice(msg, operation, "preset", read.preset, table.preset.of);
      const typed = { field: "weightValue", value: saved.weightValue, type: saved.weightValueType } as const;
      const given = weight === "given" ? await values.read(typed, numberOrText) : undefined;
      return billableWeightOf(msg.payload, {
        rule: preset === "own" ? ownRule : preset,
        weightFrom: weight,
        given: readWeight(given, read.weightUnit),
        scan: msg["scan"],
        mustBeLegal: requireLegalForTrade,
        extras: limits,
        today: dayHere(new Date()),
      });
    };
    serve(RED, this, served, async ({ msg, status }, read) => {
      try {
        const billable = await bill(msg, read);
        const isOld = billable.ruleId !== "own" && isTableOld(dayHere(new Date()));
        const figures = { count: billable.weight, unit: billable.unit };
        status.say(isOld ? "waiting" : "done", isOld ? "billedOldTable" : statuses[billable.basis], figures);
        msg["billable"] = billable;
        return [msg];
      } catch (error) {
        // That of an earlier measurement, which archive would write into the package.
        delete msg["billable"];
        throw error;
      }
    });
  }

  RED.nodes.registerType("dimensioner-billable-weight", BillableWeightNode);
}
