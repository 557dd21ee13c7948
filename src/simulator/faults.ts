import * as v from "valibot";

import { connectionFault, faultRuleSchema } from "./fault-kinds.ts";
import type { ConnectionFault, FaultRule, RequestFault } from "./fault-types.ts";
import type { SurfaceName } from "./requests.ts";

/** A rule in force. */
export interface ListedFault extends FaultRule {
  readonly id: string;
  /** Requests or connections that fitted so far. */
  readonly matches: number;
  readonly strikes: number;
}

/** A fault that strikes now. */
export interface AppliedFault<F> {
  readonly name: string;
  readonly fault: F;
}

export interface Faults {
  /** Takes a rule into force, after those that are already there. Throws for a rule that can't be understood. */
  add(rule: FaultRule): string;
  /** False when there is no such rule (any more). */
  remove(id: string): boolean;
  clear(): void;
  list(): ListedFault[];
}

/** The side of the servers. */
export interface FaultRules extends Faults {
  faultForRequest(surface: SurfaceName, method: string, path: string): AppliedFault<RequestFault> | null;
  faultForConnection(surface: SurfaceName): AppliedFault<ConnectionFault> | null;
  /** True while a `refuse` is in force. */
  refuses(surface: SurfaceName): boolean;
}

interface Entry {
  readonly id: string;
  readonly rule: FaultRule;
  matches: number;
  strikes: number;
}

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

/** `changed` is called when rules come, go or strike. */
export function createFaultRules(
  after: (ms: number, act: () => void) => () => void,
  changed: () => void,
): FaultRules {
  let entries: Entry[] = [];
  let lastId = 0;

  function remove(id: string): boolean {
    const left = entries.filter((entry) => entry.id !== id);
    const found = left.length < entries.length;
    entries = left;
    if (found) {
      changed();
    }
    return found;
  }

  /** Counts the match; true when the rule strikes. */
  function strikes(entry: Entry): boolean {
    entry.matches += 1;
    if (entry.matches <= (entry.rule.after ?? 0)) {
      return false;
    }
    entry.strikes += 1;
    if (entry.strikes === (entry.rule.times ?? 1)) {
      remove(entry.id);
    } else {
      changed();
    }
    return true;
  }

  return {
    add(given) {
      const rule = v.parse(faultRuleSchema, given);
      lastId += 1;
      const id = `fault-${lastId}`;
      entries = [...entries, { id, rule, matches: 0, strikes: 0 }];
      if (rule.fault.kind === "refuse" && rule.fault.forMs !== undefined) {
        after(rule.fault.forMs, () => remove(id));
      }
      changed();
      return id;
    },
    remove,
    clear() {
      entries = [];
      changed();
    },
    list: () =>
      entries.map(({ id, rule, matches, strikes: hits }) => ({ ...rule, id, matches, strikes: hits })),
    faultForRequest(surface, method, path) {
      for (const entry of entries) {
        const { fault, name } = entry.rule;
        if (v.is(connectionFault, fault) || !fitsRequest(entry, surface, method, path)) {
          continue;
        }
        if (strikes(entry)) {
          return { name: name ?? fault.kind, fault };
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
        if (strikes(entry)) {
          return { name: name ?? fault.kind, fault };
        }
      }
      return null;
    },
    refuses: (surface) =>
      entries.some(({ rule }) => rule.fault.kind === "refuse" && (rule.surface ?? surface) === surface),
  };
}
