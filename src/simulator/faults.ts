import * as v from "valibot";

import { connectionFault, faultRuleSchema } from "./fault-kinds.ts";
import type { ConnectionFault, FaultRule, RequestFault } from "./fault-types.ts";
import { LimitError } from "./history.ts";
import type { SurfaceName } from "./requests.ts";

/** An active fault. */
export interface ListedFault extends FaultRule {
  readonly id: string;
  /** How many requests or connections have matched so far. */
  readonly matches: number;
  /** How many of them it was applied to. */
  readonly applied: number;
}

/** A fault that applies to this request or connection. */
export interface AppliedFault<F> {
  readonly name: string;
  readonly fault: F;
  /** Aborted when somebody removes the fault. */
  readonly removed: AbortSignal;
}

export interface Faults {
  /** Adds a rule after the existing ones. Throws for a rule that is not valid. */
  add(rule: FaultRule): string;
  /** Returns false if there is no such rule. */
  remove(id: string): boolean;
  clear(): void;
  list(): ListedFault[];
}

/** The part of the faults that the servers use. */
export interface FaultRules extends Faults {
  faultForRequest(surface: SurfaceName, method: string, path: string): AppliedFault<RequestFault> | null;
  faultForConnection(surface: SurfaceName): AppliedFault<ConnectionFault> | null;
  /** True while a `refuse` is active. */
  refuses(surface: SurfaceName): boolean;
}

interface Entry {
  readonly id: string;
  readonly rule: FaultRule;
  /** The size of the rule as JSON. */
  readonly bytes: number;
  matches: number;
  applied: number;
  /** Ends the timer of a fault that ends by itself. */
  cancelTimer(): void;
  /** Aborted when somebody removes the fault, and not when it has been applied often enough. */
  readonly removed: AbortController;
}

const mostRules = 1000;
const mostBytes = 16 * 1024 * 1024;

function fitsRequest({ rule }: Entry, surface: SurfaceName, method: string, path: string): boolean {
  if (rule.surface !== undefined && rule.surface !== surface) {
    return false;
  }
  if (rule.method !== undefined && rule.method.toUpperCase() !== method) {
    return false;
  }
  if (rule.path === undefined) {
    return true;
  }
  if (rule.path.startsWith("/")) {
    return path.toLowerCase().startsWith(rule.path.toLowerCase());
  }
  return new RegExp(rule.path, "i").test(path);
}

/** `changed` is called when rules are added, applied or removed. */
export function createFaultRules(
  after: (ms: number, act: () => void) => () => void,
  changed: () => void,
): FaultRules {
  let entries: Entry[] = [];
  let lastId = 0;

  function drop(dropped: Entry): void {
    dropped.cancelTimer();
    entries = entries.filter((entry) => entry !== dropped);
    changed();
  }

  function remove(id: string): boolean {
    const found = entries.find((entry) => entry.id === id);
    if (found === undefined) {
      return false;
    }
    drop(found);
    found.removed.abort();
    return true;
  }

  /** Counts the match; true when the fault applies to it. */
  function applies(entry: Entry): boolean {
    entry.matches += 1;
    if (entry.matches <= (entry.rule.after ?? 0)) {
      return false;
    }
    entry.applied += 1;
    if (entry.applied === (entry.rule.times ?? 1)) {
      drop(entry);
    } else {
      changed();
    }
    return true;
  }

  return {
    add(given) {
      const rule = v.parse(faultRuleSchema, given);
      const bytes = Buffer.byteLength(JSON.stringify(rule));
      const totalBytes = entries.reduce((sum, entry) => sum + entry.bytes, bytes);
      if (entries.length >= mostRules || totalBytes > mostBytes) {
        throw new LimitError(
          `At most ${mostRules} faults with 16 MB in all can be set. Remove some of them first.`,
        );
      }
      lastId += 1;
      const id = `fault-${lastId}`;
      const { fault } = rule;
      const entry: Entry = {
        id,
        rule,
        bytes,
        matches: 0,
        applied: 0,
        cancelTimer: () => undefined,
        removed: new AbortController(),
      };
      entries = [...entries, entry];
      if (fault.kind === "refuse" && fault.forMs !== undefined) {
        entry.cancelTimer = after(fault.forMs, () => remove(id));
      }
      changed();
      return id;
    },
    remove,
    clear() {
      const removed = entries;
      entries = [];
      for (const entry of removed) {
        entry.cancelTimer();
        entry.removed.abort();
      }
      changed();
    },
    list: () => entries.map(({ id, rule, matches, applied }) => ({ ...rule, id, matches, applied })),
    faultForRequest(surface, method, path) {
      for (const entry of entries) {
        const { fault, name } = entry.rule;
        if (v.is(connectionFault, fault) || !fitsRequest(entry, surface, method, path)) {
          continue;
        }
        if (applies(entry)) {
          return { name: name ?? fault.kind, fault, removed: entry.removed.signal };
        }
      }
      return null;
    },
    faultForConnection(surface) {
      for (const entry of entries) {
        const { fault, name } = entry.rule;
        if (!v.is(connectionFault, fault) || fault.kind === "refuse") {
          continue;
        }
        if (entry.rule.surface !== undefined && entry.rule.surface !== surface) {
          continue;
        }
        if (applies(entry)) {
          return { name: name ?? fault.kind, fault, removed: entry.removed.signal };
        }
      }
      return null;
    },
    refuses: (surface) =>
      entries.some(({ rule }) => rule.fault.kind === "refuse" && (rule.surface ?? surface) === surface),
  };
}
