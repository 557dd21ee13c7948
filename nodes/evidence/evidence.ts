import type { Node, NodeAPI, NodeDef } from "node-red";
import { listMissing } from "../../src/evidence/missing.ts";
import { addNumbers, changeHold, findPackages, periodOf } from "../../src/evidence/packages.ts";
import { field } from "../../src/errors/interpolation.ts";
import { mostRows, nameOfTable, tableType, writeTable } from "../../src/evidence/table.ts";
import { sequenceOf } from "../../src/runtime/action/message.ts";
import { readOutput } from "../../src/runtime/action/output.ts";
import { type Job, serve } from "../../src/runtime/action/serve.ts";
import { ValueReader, readChoice, readSaved } from "../../src/runtime/action/values.ts";
import { deployed } from "../../src/runtime/config/config-choice.ts";
import { type Settings, absence, settingsOf } from "../../src/runtime/config/settings.ts";
import {
  type EvidenceRequest,
  StoreHandle,
  ActionTurns,
  checkpointOf,
  exportEvidence,
  filterOf,
  isSpaceSoonGone,
  languageFor,
  minutesOf,
  prune,
  putExport,
  sourceOf,
  stateOf,
  targetOf,
  timestamp,
  verify,
  withoutParcel,
} from "../../src/runtime/evidence/evidence-work.ts";
import type { Outputs } from "../../src/runtime/messages.ts";
import { filesOf, storeOf } from "../../src/runtime/store/store-choice.ts";
import { type EvidenceProperties, defaults, properties as table } from "./evidence.shared.ts";

interface EvidenceCredentials {
  password: string;
}

type Action = Exclude<EvidenceProperties["action"], "msg">;

/** Messages wait for long actions; more of them are a mistake in the flow. */
const mostAtWork = 100;

/** Reads one number or a list of them; none where something in the list is no text. */
function numbersOf(values: ValueReader, value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  const numbers = given.map((one) => (one === "" ? one : values.reference(field("numbers"), one)));
  const texts = numbers.filter((one): one is string => one !== undefined);
  return texts.length === numbers.length ? texts : [];
}

/** `dimensioner-evidence`: finds, verifies, holds, exports, time-stamps and deletes the packages of a store. */
export default function (RED: NodeAPI): void {
  // Shared by all nodes of this type: the disk is the limit, whichever store it is.
  const turns = new ActionTurns();

  function EvidenceNode(
    this: Node<EvidenceCredentials>,
    config: NodeDef & Partial<EvidenceProperties>,
  ): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const operationOf = (action: string) => ({ operation: action, surface: "store", acts: false }) as const;
    const openStore = () => storeOf(RED, properties.store, operationOf("evidence"));
    const handle = new StoreHandle(openStore);
    const stores = {
      problem: () => (deployed(RED, properties.store) === null ? absence(RED, properties.store) : undefined),
      surface: () => "store" as const,
    } as const;

    const read = async ({ msg }: Job, action: Action, settings: Settings<typeof table>) => {
      const operation = operationOf(action);
      const values = new ValueReader(RED, this, msg, operation);
      const { value, valueType, numbers, numbersType, reason, reasonType, person, personType } = properties;
      const store = openStore();
      const vault = filesOf(store, operation);
      const request: EvidenceRequest = {
        operation,
        by: settings.by,
        value: await values.read({ field: "value", value, type: valueType }, (given) =>
          values.reference(field("value"), given),
        ),
        limit: settings.limit,
        vault,
        location: store.location,
        connection: await handle.open(),
        openVault: () => handle.openVault(vault),
        roots: settings.roots === "" ? store.timestampRoots : settings.roots,
        heading: store.heading,
      };
      const change = async () => ({
        reason: await values.required({ field: "reason", value: reason, type: reasonType }),
        person: (await values.optional({ field: "person", value: person, type: personType })) ?? null,
      });
      const naming = async () => ({
        numbers: await values.read({ field: "numbers", value: numbers, type: numbersType }, (given) =>
          numbersOf(values, given),
        ),
        reason: (await values.optional({ field: "reason", value: reason, type: reasonType })) ?? null,
        person: (await values.optional({ field: "person", value: person, type: personType })) ?? null,
      });
      return { request, change, naming };
    };

    const readExport = async ({ msg }: Job) => {
      const operation = operationOf("export");
      const values = new ValueReader(RED, this, msg, operation);
      const { claim, claimType } = properties;
      return {
        claim: await values.optional({ field: "claim", value: claim, type: claimType }),
        target: targetOf(await readOutput(values, properties, operation)),
      };
    };

    const work = async (job: Job, settings: Settings<typeof table>): Promise<Outputs> => {
      const { msg, status } = job;
      const action = readChoice(msg, operationOf("evidence"), "action", settings.action, table.action.of);
      const { request, change, naming } = await read(job, action, settings);
      status.say("working", "searching");
      switch (action) {
        case "find": {
          const sought = { ...request, filter: filterOf(msg, settings) };
          const found = await findPackages(await sourceOf(request), sought, job.signal);
          status.say("done", "packages", { count: found.length });
          if (settings.emit === "array") {
            msg.payload = found;
            return [msg];
          }
          const items = found.map((payload) => ({ payload }));
          return [sequenceOf(RED, msg, request.operation, items)];
        }
        case "csv": {
          const sought = { ...request, filter: filterOf(msg, settings), limit: mostRows + 1 };
          const found = await findPackages(await sourceOf(request), sought, job.signal);
          const rows = found.slice(0, mostRows);
          msg["more"] = found.length > mostRows;
          status.say(msg["more"] === true ? "waiting" : "done", "packages", { count: rows.length });
          msg.payload = writeTable(rows);
          msg["contentType"] = tableType;
          msg["filename"] = nameOfTable();
          return [msg];
        }
        case "missing": {
          const missing = await listMissing(
            await sourceOf(request),
            periodOf({ operation: action }, request.value),
            request.limit,
          );
          status.say("done", "missing", { count: missing.length });
          if (settings.emit === "array") {
            msg.payload = missing;
            return [msg];
          }
          const again = missing.filter(({ archiveAgain }) => archiveAgain !== null);
          const rest = missing.filter(({ archiveAgain }) => archiveAgain === null);
          const common = withoutParcel(msg);
          return [again, rest].map((list) => {
            const items = list.map(({ archiveAgain, ...missing }) => ({
              payload: null,
              ...archiveAgain,
              missing,
            }));
            return sequenceOf(RED, common, request.operation, items);
          });
        }
        case "hold":
        case "release": {
          const changed = await changeHold(await sourceOf(request), request, {
            what: action,
            ...(await change()),
          });
          status.say("done", action === "hold" ? "onHold" : "released", { count: changed.length });
          msg.payload = changed;
          return [msg];
        }
        case "name": {
          const named = await addNumbers(await sourceOf(request), request, await naming());
          status.say("done", "named", { count: named.numbers.length });
          msg.payload = [named];
          return [msg];
        }
        case "verify": {
          const minutes = minutesOf(msg, settings);
          const report = await turns.run(action, job, () => verify(request, job, minutes));
          const { findingCount, packages: count, verdict } = report;
          if (findingCount > 0) {
            status.say("failed", "findings", { count: findingCount });
          } else if (verdict === "unchecked") {
            status.say("waiting", "notAllChecked", { count: report.unchecked.length });
          } else {
            status.say("done", "verified", { count });
          }
          msg.payload = report;
          return [msg];
        }
        case "export": {
          const options = { ...(await readExport(job)), language: languageFor(RED, settings.language) };
          const made = await turns.run(action, job, () => exportEvidence(request, job, options));
          return [putExport(job, made)];
        }
        case "prune": {
          const report = await turns.run(action, job, () => prune(request, job, settings));
          const { deleted, space } = report;
          if (typeof space?.problem === "string") {
            status.say("failed", "spaceMissing");
          } else if (deleted === 0 && isSpaceSoonGone(space)) {
            status.say("waiting", "spaceSoon", { count: space.daysLeft });
          } else {
            status.say("done", settings.dryRun ? "wouldDelete" : "deleted", { count: deleted });
          }
          msg.payload = report;
          return [msg];
        }
        case "timestamp": {
          const made = await timestamp(RED, request, job, settings, this.credentials?.password);
          status.say("done", made.alreadyStamped ? "alreadyStamped" : "stamped");
          msg.payload = made;
          return [msg];
        }
        case "checkpoint": {
          const { text, checkpoint } = await checkpointOf(request);
          status.say("done", "checkpoint", { count: checkpoint.logSize });
          msg.payload = text;
          msg["checkpoint"] = checkpoint;
          return [msg];
        }
        case "state": {
          const state = await stateOf(request);
          status.say("done", "openJobs", { count: state.openJobs });
          msg.payload = state;
          return [msg];
        }
      }
    };

    const served = { operation: "evidence", acts: false, config: stores, properties } as const;
    serve(RED, this, { ...served, settings: settingsOf(table, properties), most: mostAtWork }, work);
    this.on("close", (done: () => void) => void handle.close().finally(done));
  }

  RED.nodes.registerType("dimensioner-evidence", EvidenceNode, {
    credentials: { password: { type: "password" } },
  });
}
