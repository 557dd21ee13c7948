import type { ConfigProperty, PropertyTable } from "../properties/property-table.ts";
import type { Fields } from "./fields.ts";

/**
 * A new node uses the only device, cloud or store that it can use, or the first one that is added later. To be called in a type's
 * onadd.
 */
export function chooseOnly(node: object, { table }: Fields): void {
  const { id } = node as { readonly id: string };
  // The editor calls onadd before it adds a new node, but after it has imported one. An imported node keeps its blank field.
  if (onCanvas(id) !== null) {
    return;
  }
  choose(node, table);
  if (!isDecided(node, table)) {
    chooseLater(id, table);
  }
}

/** Looks again whenever a config node is added, until all are chosen or somebody has closed the node's dialog with "Done". */
function chooseLater(id: string, table: PropertyTable): void {
  const types = new Set(configsOf(table).map(([, { of }]) => of));
  const stop = (): void => {
    RED.events.off("nodes:add", look);
    RED.events.off("editor:save", stopIfSaved);
  };
  const look = ({ type }: { readonly type: string }): void => {
    if (types.has(type)) {
      // An import adds them one by one: the first of several is not the only one.
      setTimeout(update);
    }
  };
  const update = (): void => {
    const node = onCanvas(id);
    if (node === null) {
      stop();
      return;
    }
    if (choose(node, table)) {
      RED.nodes.updateConfigNodeUsers(node);
      RED.editor.validateNode(node);
      Object.assign(node, { changed: true, dirty: true });
      RED.view.redraw();
    }
    if (isDecided(node, table)) {
      stop();
    }
  };
  const stopIfSaved = (saved: { readonly id: string }): void => {
    if (saved.id === id) {
      stop();
    }
  };
  RED.events.on("nodes:add", look);
  RED.events.on("editor:save", stopIfSaved);
}

function onCanvas(id: string): object | null {
  return RED.nodes.node(id) ?? null;
}

/** Whether it has chosen any. */
function choose(node: object, table: PropertyTable): boolean {
  let hasChosen = false;
  for (const [name, property] of configsOf(table)) {
    const [only, second] = isBlank(node, name, property) ? usableBy(node, property) : [];
    if (only !== undefined && second === undefined) {
      Reflect.set(node, name, only);
      hasChosen = true;
    }
  }
  return hasChosen;
}

function isDecided(node: object, table: PropertyTable): boolean {
  return configsOf(table).every(([name, property]) => !isBlank(node, name, property));
}

/** Neither chosen nor left to the message. */
function isBlank(node: object, name: string, { from = name }: ConfigProperty): boolean {
  return [name, from].every((one) => (Reflect.get(node, one) ?? "") === "");
}

function configsOf(table: PropertyTable): (readonly [string, ConfigProperty])[] {
  return Object.entries(table).flatMap(([name, property]) =>
    property.kind === "config" && property.of.startsWith("dimensioner-") ? [[name, property] as const] : [],
  );
}

/** The ids of the enabled config nodes that nodes on this tab can use, and that have the required generation. */
function usableBy(node: object, { of, generation }: ConfigProperty): string[] {
  const found: string[] = [];
  RED.nodes.eachConfig((config) => {
    const { id, type, d: isDisabled = false, z = "", ...saved }: Partial<ConfigNode> = config;
    const isInReach = z === "" || z === Reflect.get(node, "z");
    const fits = generation === undefined || (saved.generation ?? generation) === generation;
    if (id !== undefined && type === of && !isDisabled && isInReach && fits) {
      found.push(id);
    }
    return true;
  });
  return found;
}

/** A config node as the editor holds it. */
interface ConfigNode {
  readonly id: string;
  readonly type: string;
  readonly d?: boolean;
  /** Id of the tab or subflow that it belongs to; blank for all. */
  readonly z?: string;
  readonly generation?: string;
}
