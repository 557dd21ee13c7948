import { failedTexts } from "../../src/runtime/status/node-status.ts";
import { type Kind, type OperationInfo, type PlainEnding, type Row, endingOf } from "./row.ts";

/** Operations that end alike, and how. */
interface Group {
  readonly who: string;
  readonly says: string;
  readonly executed: string;
  readonly advice: string;
}

const kindWords: Readonly<Record<Kind, string>> = {
  measure: "measure",
  video: "video",
  read: "reading",
  download: "download",
};
const kinds: readonly Kind[] = ["measure", "video", "read", "download"];

/** One line for all operations that end alike under a row. */
export function groupsOf(row: Row, operations: readonly OperationInfo[]): Group[] {
  const groups = new Map<string, { group: Omit<Group, "who">; who: Map<string, Kind[]> }>();
  for (const kind of kinds) {
    for (const [scope, ending] of scopesOf(row, operations, kind)) {
      const group = describeEnding(ending, kind);
      const key = JSON.stringify(group);
      const entry = groups.get(key) ?? { group, who: new Map<string, Kind[]>() };
      entry.who.set(scope, [...(entry.who.get(scope) ?? []), kind]);
      groups.set(key, entry);
    }
  }
  return [...groups.values()].map(({ group, who }) => ({
    who: [...who].map(([scope, some]) => nameOf(scope, some)).join(", "),
    ...group,
  }));
}

/** "" where all of a kind end alike; else the surface, or ":" and the operation. */
function scopesOf(row: Row, operations: readonly OperationInfo[], kind: Kind): [string, PlainEnding][] {
  const ofKind = operations.filter((operation) => operation.kind === kind);
  const scopes: ((operation: OperationInfo) => string)[] = [
    () => "",
    ({ surface }) => (surface === "cloud" ? "cloud" : "device"),
    ({ operation }) => `:${kind === "download" ? (downloadWords[operation] ?? operation) : operation}`,
  ];
  for (const scope of scopes) {
    const byScope = new Map<string, (PlainEnding | undefined)[]>();
    for (const operation of ofKind) {
      byScope.set(scope(operation), [...(byScope.get(scope(operation)) ?? []), endingOf(row, operation)]);
    }
    const all = [...byScope].map(([name, endings]) => ({
      name,
      ending: endings[0],
      isOne: areAlike(endings),
    }));
    if (all.every(({ isOne }) => isOne)) {
      return all.flatMap(({ name, ending }) => (ending === undefined ? [] : [[name, ending]]));
    }
  }
  // Only one generation can have it.
  return scopesOf(
    row,
    operations.filter((operation) => endingOf(row, operation) !== undefined),
    kind,
  );
}

function areAlike([first, ...others]: readonly (PlainEnding | undefined)[]): boolean {
  return others.every((other) => JSON.stringify(other) === JSON.stringify(first));
}

const downloadWords: Readonly<Record<string, string>> = { video: "saved video" };

function nameOf(scope: string, some: readonly Kind[]): string {
  if (scope.startsWith(":")) {
    return scope.slice(1);
  }
  const areCommands = some.includes("measure") && some.includes("video");
  const words = [
    ...(areCommands ? ["command"] : []),
    ...some
      .filter((kind) => !areCommands || kind === "read" || kind === "download")
      .map((kind) => kindWords[kind]),
  ];
  return words.map((word) => (scope === "" ? word : `${word} (${scope})`)).join(", ");
}

function describeEnding(ending: PlainEnding, kind: Kind): Omit<Group, "who"> {
  const { code, outcome, retryable, fewest, most } = ending;
  const isCommand = kind === "measure" || kind === "video";
  const asked = `after ${fewest === most ? most : `${fewest} to ${most}`} requests`;
  const says = `${code === undefined ? "works" : failedTexts[code]}${most > 1 ? `, ${asked}` : ""}`;
  if (code === undefined) {
    return { says, executed: isCommand ? "yes" : "–", advice: "–" };
  }
  if (outcome === null) {
    return { says, executed: "–", advice: retryable ? "send again" : "correct it, send again" };
  }
  const known = {
    unknown: ["perhaps", "check the device first"],
    failed: ["yes, without a result", "reposition the parcel"],
    refused: ["no", retryable ? "send again later" : "correct it, send again"],
    "not-sent": ["no", retryable ? "send again" : "correct it, send again"],
  } as const;
  const [executed, advice] = known[outcome];
  return { says, executed, advice };
}
