import { createHash } from "node:crypto";

/**
 * What `npm run write:docs` puts into a property of a node, from files below src/: the code of a Function node from the module that
 * has its `onMessage` or `onStart`, the template, component and styles of a ui-template node, or a text as it is.
 */
export type Source =
  | { readonly code: string }
  | { readonly template: string; readonly component: string; readonly styles: readonly string[] }
  | { readonly text: string };

export type Properties = Readonly<Record<string, unknown>>;
export type Place = readonly [x: number, y: number];
/** Names of the nodes that each output leads to. */
export type Wires = readonly (readonly string[])[];

const blankFunction = {
  func: "return msg;",
  outputs: 0,
  timeout: 0,
  noerr: 0,
  initialize: "",
  finalize: "",
  libs: [],
};
const blankChange = { action: "", property: "", from: "", to: "", reg: false };

/** Makes the nodes of one tab. Nodes are known by their names; their code and pages are files in a folder of src/. */
export class FlowBuilder {
  readonly tab: string;
  readonly #flow: string;
  readonly #folder: string;

  constructor(flow: string, folder: string) {
    this.#flow = flow;
    this.#folder = folder;
    this.tab = this.idOf("tab");
  }

  /** Returns the same ID for the same name each time, in the form that Node-RED gives them. */
  idOf(name: string): string {
    return createHash("sha256").update(`${this.#flow}: ${name}`).digest("hex").slice(0, 16);
  }

  /** The code of a Function node: a module in the folder `nodes` of the flow's folder. */
  code(file: string): Source {
    return { code: `${this.#folder}/nodes/${file}` };
  }

  /** The page of a ui-template node: the template, the component and the styles with this name in the folder `page`. */
  page(name: string): Source {
    const path = `${this.#folder}/page/${name}`;
    return {
      template: `${path}.html`,
      component: `${path}.ts`,
      styles: ["dashboard/page.css", `${path}.css`],
    };
  }

  /** The text of the comment node. */
  comment(): Source {
    return { text: `${this.#folder}/comment.md` };
  }

  node(type: string, name: string, [x, y]: Place, properties: Properties, ...wires: Wires) {
    const ids = wires.map((one) => one.map((target) => this.idOf(target)));
    return { id: this.idOf(name), type, z: this.tab, name, ...properties, x, y, wires: ids };
  }

  /** A Function node with as many outputs as there are wires. */
  functionNode(name: string, at: Place, file: string, options: Properties, ...wires: Wires) {
    const properties = { ...blankFunction, func: this.code(file), outputs: wires.length, ...options };
    return this.node("function", name, at, properties, ...wires);
  }

  /** A Function node that only runs once, at the start. */
  startNode(name: string, at: Place, file: string) {
    return this.node("function", name, at, { ...blankFunction, initialize: this.code(file) });
  }

  /** Gives a message the topic by which a Function node knows it. */
  topicNode(name: string, at: Place, topic: string, ...to: readonly string[]) {
    return this.setNode(name, at, [{ t: "set", p: "topic", pt: "msg", to: topic, tot: "str" }], ...to);
  }

  /** A Change node. */
  setNode(name: string, at: Place, rules: readonly object[], ...to: readonly string[]) {
    return this.node("change", name, at, { rules, ...blankChange }, to);
  }

  /** A Catch node for these nodes. */
  catchNode(name: string, at: Place, of: readonly string[], ...to: readonly string[]) {
    return this.node("catch", name, at, { scope: of.map((one) => this.idOf(one)), uncaught: false }, to);
  }

  /** An Inject node that sends a topic again and again. */
  repeatNode(name: string, at: Place, topic: string, seconds: number, ...to: readonly string[]) {
    const properties = {
      props: [{ p: "topic", vt: "str" }],
      repeat: String(seconds),
      crontab: "",
      once: seconds > 1,
      onceDelay: seconds > 1 ? 1 : 0.1,
      topic,
      payload: "",
      payloadType: "date",
    };
    return this.node("inject", name, at, properties, to);
  }

  linkOut(to: string, number: number, [x, y]: Place) {
    const id = this.idOf(`${to} ${number}`);
    return {
      id,
      type: "link out",
      z: this.tab,
      name: to,
      mode: "link",
      links: [this.idOf(to)],
      x,
      y,
      wires: [],
    };
  }

  /** The node at which this number of links end, one from each Link Out node with this name. */
  linkIn(to: string, links: number, at: Place, target: readonly string[]) {
    const ids = Array.from({ length: links }, (_, index) => this.idOf(`${to} ${index + 1}`));
    return this.node("link in", to, at, { links: ids }, target);
  }
}
