import { actionNodes, type ActionNode } from "./action-nodes.ts";
import { endingOf, type Kind, type Row } from "./row.ts";
import { families, type Family } from "./tables/index.ts";

/** A row, and the nodes to which it applies. */
export interface ChosenRow {
  readonly family: Family;
  readonly name: string;
  readonly row: Row;
  readonly nodes: readonly ActionNode[];
}

const kinds: readonly Kind[] = ["measure", "video", "read", "download"];

/** Every row with one node of each kind to which it applies; rows take turns with the nodes. */
export const chosen: readonly ChosenRow[] = families
  .flatMap((family) => Object.entries(family.rows).map(([name, row]) => ({ family, name, row })))
  .map((one, index) => ({ ...one, nodes: one.row.sourcesOnly === true ? [] : choose(one.row, index) }));

function choose(row: Row, turnOfRow: number): ActionNode[] {
  return kinds.flatMap((kind) => {
    const able = actionNodes.filter((node) => node.kind === kind && endingOf(row, node) !== undefined);
    const index = able.length === 0 ? 0 : turnOfRow % able.length;
    return able.slice(index, index + 1);
  });
}

/** The title of a row. */
export const titleOf = ({ family, name }: Pick<ChosenRow, "family" | "name">): string =>
  `${family.title}: ${name}`;
