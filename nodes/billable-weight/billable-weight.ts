import type { Node, NodeAPI, NodeDef } from "node-red";
import { billableWeightOf } from "../../src/billing/billable-weight.ts";
import { billingFacts } from "../../src/billing/billing-error.ts";
import { dayHere, readWeight } from "../../src/billing/measured.ts";
import { readSaved } from "../../src/runtime/action/saved-properties.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader } from "../../src/runtime/action/values.ts";
import { extraLimits, ownRuleOf } from "../../src/runtime/billing/billing-settings.ts";
import { openOrExplain } from "../../src/runtime/config/config-node.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { errorBeforeSending } from "../../src/runtime/failure.ts";
import { defaults, properties as table, type BillableWeightProperties } from "./billable-weight.shared.ts";

const operation = { ...billingFacts, acts: false } as const;
const statuses = {
  dimensional: "billedDimensional",
  actual: "billedActual",
  minimum: "billedMinimum",
} as const;

/** `dimensioner-billable-weight`: what a carrier bills for the parcel that was measured (contract: msg.billable). */
export default function (RED: NodeAPI): void {
  function BillableWeightNode(this: Node, config: NodeDef & Partial<BillableWeightProperties>): void {
    RED.nodes.createNode(this, config);
    const saved = readSaved(defaults, config);
    const opened = openOrExplain(() => {
      const reader = new SettingsReader("node", operation);
      const settings = reader.read(table, saved);
      return { ...settings, ownRule: ownRuleOf(settings), limits: extraLimits(settings, reader) };
    });
    const needed = {
      problem: () => ("problem" in opened ? ("failed.ERR_CONFIG" as const) : undefined),
      surface: () => "config" as const,
    };

    serve(RED, this, { ...operation, config: needed, properties: saved }, async ({ msg, status }) => {
      if ("problem" in opened) {
        throw errorBeforeSending(operation, opened.problem.sentence, opened.problem.values);
      }
      const { ownRule, weight, limits, requireLegalForTrade } = opened;
      const values = new ValueReader(RED, this, msg, operation);
      const preset = values.choice("preset", table.preset, opened.preset);
      const typed = { field: "weightValue", value: saved.weightValue, type: saved.weightValueType } as const;
      const given = weight === "given" ? await values.optional(typed) : undefined;
      const billable = billableWeightOf(msg.payload, {
        rule: preset === "own" ? ownRule : preset,
        weightFrom: weight,
        given: readWeight(given, opened.weightUnit),
        scan: msg["scan"],
        mustBeLegal: requireLegalForTrade,
        extras: limits,
        today: dayHere(new Date()),
      });
      status.say("done", statuses[billable.basis], { count: billable.weight, unit: billable.unit });
      msg["billable"] = billable;
      return [msg];
    });
  }

  RED.nodes.registerType("dimensioner-billable-weight", BillableWeightNode);
}
