import { setImmediate as nextTurn } from "node:timers/promises";
import type { Node, NodeAPI, NodeDef } from "node-red";
import { copiesOf, refuseTooDeep } from "../../src/runtime/action/message.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { readSaved } from "../../src/runtime/action/values.ts";
import { serveTryScan } from "../../src/runtime/admin/scan-routes.ts";
import { noConfig } from "../../src/runtime/config/config-choice.ts";
import type { SettingsReader } from "../../src/runtime/config/settings.ts";
import type { Outputs } from "../../src/runtime/messages.ts";
import { RecentScans, framesIn, readCodeRules, sourceOf } from "../../src/runtime/scan/scan-settings.ts";
import { ScanSources } from "../../src/runtime/scan/scan-sources.ts";
import { noRead } from "../../src/scan/no-reads.ts";
import { readFrame } from "../../src/scan/read-scans.ts";
import { chooseReference } from "../../src/scan/reference.ts";
import { type ScanProperties, defaults, properties as table } from "./scan.shared.ts";

const operation = { operation: "scan", surface: "config", acts: false } as const;

/** What the node adds to the message of one scan. */
type Addition =
  | { readonly control: string }
  | { readonly transactionReference: string; readonly scan: object };

/** `dimensioner-scan`: turns what a barcode scanner sends into a parcel's reference or a control code. */
export default function (RED: NodeAPI): void {
  function ScanNode(this: Node, config: NodeDef & Partial<ScanProperties>): void {
    RED.nodes.createNode(this, config);
    const saved = readSaved(defaults, config);
    const settings = (reader: SettingsReader) => {
      const read = reader.read(table, saved);
      return {
        ...read,
        rules: readCodeRules(read, reader),
        sources: new ScanSources(read.gapMs),
        recent: new RecentScans(read.dedupeMs),
      };
    };
    let dropped = 0;

    const served = { ...operation, config: noConfig, properties: saved, settings };
    serve(RED, this, served, async (job, { rules, sources, recent, separator, addressee, framing }) => {
      const { msg, status } = job;
      const droppedBefore = sources.dropped;
      const frames = await framesIn(job, framing, sources);
      if (frames.length > 1) {
        refuseTooDeep(msg, operation);
      }
      const references = await rules.references();
      // All scans are read before any is remembered: a message ends either in its scans or in an error.
      const read: { payload: string; key: string; addition: Addition }[] = [];
      for await (const frame of someInTurn(frames)) {
        const reading = readFrame(frame, { separator, addressee });
        const control = rules.controlOf(reading);
        const addition: Addition =
          control === undefined
            ? { transactionReference: chooseReference(reading, references), scan: reading.scan }
            : { control };
        read.push({ payload: reading.scan.raw, key: `${sourceOf(msg)} ${reading.scan.text}`, addition });
      }
      const fresh = read.filter(({ key }) => !recent.isDuplicate(key, performance.now()));
      dropped += read.length - fresh.length;
      const last = fresh.at(-1);
      if (sources.dropped > droppedBefore) {
        status.say("failed", "scansDropped", { count: sources.dropped });
      } else if (last !== undefined && nameOf(last.addition) === noRead) {
        status.say("waiting", "nothingRead");
      } else if (last !== undefined) {
        status.show("done", () => nameOf(last.addition));
      } else if (read.length > 0) {
        status.say("done", "duplicates", { count: dropped });
      }
      const items = fresh.map(({ payload, addition }) => ({ payload, ...addition }));
      return { turns: outputsOf(items) };

      async function* outputsOf(all: typeof items): AsyncGenerator<Outputs> {
        for await (const item of someInTurn(all)) {
          const [sent = msg] =
            all.length > 1 ? copiesOf(RED, msg, operation, [item]) : [Object.assign(msg, item)];
          yield "control" in item ? [null, sent] : [sent, null];
        }
      }
    });
  }

  RED.nodes.registerType("dimensioner-scan", ScanNode);
  serveTryScan(RED);
}

/** How many scans are read, or sent, in one turn of the event loop. */
const mostInTurn = 200;

/** Returns one after the other, and lets the rest of the process go on after some of them. */
async function* someInTurn<T>(all: readonly T[]): AsyncGenerator<T> {
  for (const [index, one] of all.entries()) {
    if (index % mostInTurn === mostInTurn - 1) {
      await nextTurn();
    }
    yield one;
  }
}

function nameOf(addition: Addition): string {
  return "control" in addition ? addition.control : addition.transactionReference;
}
