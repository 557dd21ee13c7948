import { readFlag } from "./flags.ts";

/** A node of a flow as it is exported: its saved properties, and the nodes behind each of its outputs. */
export interface ExportedNode {
  readonly id: string;
  readonly type: string;
  readonly [property: string]: unknown;
}

/**
 * The archive nodes behind a start of a video that none of them collects: neither from a cloud nor from the device, although all media are
 * to be in their packages. Messages are followed by wires, link nodes and subflows, and from a start to the measurements of the same
 * device, which end its recording. Wherever something else may bring or fetch the video, or a setting is not known here, there is none.
 */
export function archivesWithoutVideo(nodes: readonly ExportedNode[]): ReadonlySet<string> {
  const flow = new Flow(nodes);
  const found = new Set<string>();
  const isStopped = flow.enabled.some(mayStop);
  for (const start of flow.enabled.filter(startsVideo)) {
    const own = flow.behind([start]);
    // Where the message of the start itself is archived, its archive nodes decide.
    const reached = own.some(isArchive) ? own : flow.behind([start, ...flow.measuresOf(start)]);
    const archives = reached.filter(isArchive);
    if (!archives.some((node) => mayCollect(node, isStopped)) && !reached.some(bringsVideo)) {
      archives.forEach(({ id }) => found.add(id));
    }
  }
  return found;
}

function isArchive({ type }: ExportedNode): boolean {
  return type === "dimensioner-archive";
}

function startsVideo({ type, action = "start" }: ExportedNode): boolean {
  return (
    (type === "dimensioner-video-control" || type === "dimensioner-remote-trigger") && action === "start"
  );
}

function bringsVideo({ type }: ExportedNode): boolean {
  return type === "dimensioner-fetch-video" || type === "dimensioner-fetch-media" || type === "http request";
}

/** Whether an archive node may have the video, or is not to have it. `isStopped`: whether a device may keep one, after a stop. */
function mayCollect(
  { cloud, cloudFrom, media = "all", deviceVideo }: ExportedNode,
  isStopped: boolean,
): boolean {
  // Undefined: the value of an environment variable, which is not known here.
  const keepsVideo = readFlag(deviceVideo);
  const mayKeep = isStopped && (keepsVideo === true || keepsVideo === undefined);
  return media !== "all" || mayKeep || isGiven(cloud) || isGiven(cloudFrom);
}

/** Whether a node stops recordings, or may do it. */
function mayStop({ type, action = "start" }: ExportedNode): boolean {
  return type === "dimensioner-video-control" && (action === "stop" || action === "msg");
}

function isGiven(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** A place in a flow: a node, and the subflows and link calls in which it is, the outermost first. */
interface Place {
  readonly node: ExportedNode;
  readonly within: readonly string[];
}

/** More than this is no flow that a person has made. */
const deepest = 20;
const mostPlaces = 20_000;

const subflowPrefix = "subflow:";

class Flow {
  readonly #byId: ReadonlyMap<string, ExportedNode>;
  /** Without those that are disabled, or on a tab that is. */
  readonly enabled: readonly ExportedNode[];

  constructor(nodes: readonly ExportedNode[]) {
    const isOff = new Set(
      nodes.filter(({ type, disabled }) => type === "tab" && disabled === true).map(idOf),
    );
    this.enabled = nodes.filter(({ d, z }) => d !== true && !isOff.has(String(z)));
    this.#byId = new Map(this.enabled.map((node) => [node.id, node]));
  }

  /** The nodes that measure on the same device, as far as is certain, and end what a start has started. */
  measuresOf(start: ExportedNode): ExportedNode[] {
    const device = deviceOf(start);
    return this.enabled.filter((node) => measuresOn(node, device));
  }

  /** The nodes that messages of these may reach. */
  behind(nodes: readonly ExportedNode[]): ExportedNode[] {
    const open = nodes.flatMap((node) => this.#contextsOf(node).map((within): Place => ({ node, within })));
    const seen = new Set<string>();
    const reached = new Set<ExportedNode>();
    for (let place = open.pop(); place !== undefined && seen.size < mostPlaces; place = open.pop()) {
      for (const next of this.#next(place)) {
        const key = [next.node.id, ...next.within].join(" ");
        if (!seen.has(key) && next.within.length <= deepest) {
          seen.add(key);
          reached.add(next.node);
          open.push(next);
        }
      }
    }
    return [...reached];
  }

  /** In which instances of subflows a node is: one list for each way in; a single empty one for a node on a tab. */
  #contextsOf({ z }: ExportedNode, depth = 0): string[][] {
    const outer = typeof z === "string" ? this.#byId.get(z) : undefined;
    if (outer?.type !== "subflow") {
      return [[]];
    }
    const instances = this.enabled.filter(({ type }) => type === `${subflowPrefix}${outer.id}`);
    return depth > deepest
      ? []
      : instances.flatMap((one) => this.#contextsOf(one, depth + 1).map((within) => [...within, one.id]));
  }

  #next({ node, within }: Place): Place[] {
    if (node.type.startsWith(subflowPrefix)) {
      const template = this.#byId.get(node.type.slice(subflowPrefix.length));
      const inside = [...within, node.id];
      const through = template === undefined ? [] : this.#leave(template, template, inside);
      return [...this.#at(wiresOf(template?.["in"]).map(idOf), inside), ...through];
    }
    if (node.type === "link call") {
      const links = node["linkType"] === "dynamic" ? [] : textsOf(node["links"]);
      return this.#at(links, [...within, node.id]);
    }
    if (node.type === "link out" && node["mode"] === "return") {
      const caller = this.#byId.get(within.at(-1) ?? "");
      return caller?.type === "link call" ? this.#at(outputsOf(caller).flat(), within.slice(0, -1)) : [];
    }
    const linked = node.type === "link out" ? textsOf(node["links"]) : [];
    const template = this.#byId.get(String(node["z"]));
    const left = template?.type === "subflow" ? this.#leave(template, node, within) : [];
    return [...this.#at([...outputsOf(node).flat(), ...linked], within), ...left];
  }

  #at(ids: readonly string[], within: readonly string[]): Place[] {
    return ids.flatMap((id) => {
      const node = this.#byId.get(id);
      return node === undefined ? [] : [{ node, within }];
    });
  }

  /** Out of a subflow by its outputs to which a node, or one output of it, is wired. */
  #leave(template: ExportedNode, node: ExportedNode, within: readonly string[], port?: number): Place[] {
    const instance = this.#byId.get(within.at(-1) ?? "");
    if (instance?.type !== `${subflowPrefix}${template.id}`) {
      return [];
    }
    const outside = within.slice(0, -1);
    const around = this.#byId.get(String(instance["z"]));
    return listOf(template["out"]).flatMap((output, index) => {
      const isWired = wiresOf([output]).some(
        (wire) => wire.id === node.id && (port === undefined || wire.port === port),
      );
      const further = around?.type === "subflow" ? this.#leave(around, instance, outside, index) : [];
      return isWired ? [...this.#at(outputsOf(instance)[index] ?? [], outside), ...further] : [];
    });
  }
}

/** What a node commands, if that is certain: a device by its config node, or by its code in a cloud. */
function deviceOf({ type, device, deviceFrom, cloud, cloudFrom, ...more }: ExportedNode): string | null {
  if (type === "dimensioner-remote-trigger") {
    const { deviceReference, deviceReferenceType = "str" } = more;
    const isKnown = isGiven(cloud) && !isGiven(cloudFrom) && deviceReferenceType === "str";
    return isKnown && isGiven(deviceReference) ? `${cloud} ${deviceReference.trim().toLowerCase()}` : null;
  }
  return isGiven(device) && !isGiven(deviceFrom) ? device : null;
}

function measuresOn(node: ExportedNode, device: string | null): boolean {
  const { type, action = "start" } = node;
  const measures =
    type === "dimensioner-measure" || (type === "dimensioner-remote-trigger" && action === "measure");
  return measures && device !== null && deviceOf(node) === device;
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

/** The nodes behind each output. */
function outputsOf({ wires }: ExportedNode): string[][] {
  return listOf(wires).map(textsOf);
}

/** What is wired to the inputs or outputs of a subflow. */
function wiresOf(ports: unknown): { readonly id: string; readonly port: unknown }[] {
  const wires = listOf(ports).flatMap((port) => listOf(propertyOf(port, "wires")));
  return wires.map((wire) => ({ id: String(propertyOf(wire, "id")), port: propertyOf(wire, "port") }));
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((one): one is string => typeof one === "string");
}
