import { type ExportedNode, archivesWithoutVideo } from "../rules/started-videos.ts";
import type { Fields } from "./fields.ts";

/** What of an archive node decides whether it collects a video. */
const decisive = ["media", "cloud", "cloudFrom", "deviceVideo"] as const;

/**
 * The fields of archive nodes whose rule for media is not valid while a video is started before the node and nobody collects it. `now`
 * reads a present value. Such nodes are checked again whenever the flows change in the editor.
 */
export function checkVideos(
  fields: Fields,
  now: (node: object, property: string) => string,
  problem: () => string,
): Fields {
  let exported: readonly ExportedNode[] | undefined;
  const isWithout = (node: object): boolean => {
    const id: unknown = Reflect.get(node, "id");
    // One export for all nodes that are checked together.
    exported ??= exportFlows();
    setTimeout(() => {
      exported = undefined;
    });
    const present = Object.fromEntries(decisive.map((name) => [name, now(node, name)]));
    return archivesWithoutVideo(exported.map((one) => (one.id === id ? { ...one, ...present } : one))).has(
      String(id),
    );
  };
  checkOnChange(fields.type);
  return {
    ...fields,
    check(node, property, value, options) {
      const found = fields.check(node, property, value, options);
      return found === true && property === "media" && isWithout(node) ? problem() : found;
    },
  };
}

function exportFlows(): ExportedNode[] {
  return RED.nodes.createCompleteNodeSet(false).filter(isExported);
}

function isExported(node: object): node is ExportedNode {
  return typeof Reflect.get(node, "id") === "string" && typeof Reflect.get(node, "type") === "string";
}

/** The editor checks a node when it is edited, and not when something before it is. */
function checkOnChange(type: string): void {
  let isDue = false;
  const check = (): void => {
    isDue = false;
    let hasChanged = false;
    RED.nodes.eachNode((node) => {
      if (Reflect.get(node, "type") === type) {
        const before: unknown = Reflect.get(node, "valid");
        RED.editor.validateNode(node);
        hasChanged ||= Reflect.get(node, "valid") !== before;
      }
      return true;
    });
    if (hasChanged) {
      RED.view.redraw();
    }
  };
  const later = (): void => {
    if (!isDue) {
      isDue = true;
      setTimeout(check);
    }
  };
  for (const what of ["nodes", "links", "subflows", "flows", "junctions"]) {
    for (const how of ["add", "remove", "change"]) {
      RED.events.on(`${what}:${how}`, later);
    }
  }
  RED.events.on("flows:loaded", later);
}
