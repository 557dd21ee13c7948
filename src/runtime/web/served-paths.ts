import type { IncomingMessage, ServerResponse } from "node:http";
import type { Node, NodeAPI } from "node-red";
import { type StatusKey, type StatusValues, translateStatus } from "../status/node-status.ts";

type Next = (error?: unknown) => void;
export type Handler = (request: IncomingMessage, response: ServerResponse, next: Next) => unknown;

/** The part of an express application that a route needs. */
export interface WebApp {
  all(path: RegExp, ...handlers: Handler[]): unknown;
  use(handler: Handler): unknown;
  /** The path at which the application is mounted, relative to the outermost one. */
  path(): string;
}

/** A path of a webhook or a page, below the root of the application. */
export interface ServedPath {
  /** "dimensioner/transaction": the joined parts, without a slash at either end. */
  readonly base: string;
  /** Whether one more part, the secret, may follow. */
  readonly takesPart: boolean;
  /** Whether every path below the base belongs to it too, as for a page with files of its own. */
  readonly takesAll?: true;
}

/** The part behind the base in the path of a request; undefined if there is none. */
export function partBehind({ base }: ServedPath, url: string | undefined): string | undefined {
  const parts = (url ?? "")
    .replace(/[?#].*$/, "")
    .split("/")
    .filter((part) => part !== "");
  const part = parts[base.split("/").length];
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Who has a path, as people know it; both null for a route of which no node is known. */
export interface PathOwner {
  /** Null for a node without a name. */
  readonly name: string | null;
  readonly id: string | null;
}

interface Claim {
  readonly path: ServedPath;
  readonly app: WebApp;
  readonly handlers: readonly Handler[];
  readonly owner: PathOwner;
  readonly onServed: () => void;
  /** Called once for each owner that has the path, or a part of it. */
  readonly onTaken: (by: PathOwner) => void;
  /** Called with each post to the path that something else has answered while the path is taken. */
  readonly onLost?: ((request: IncomingMessage) => void) | undefined;
  isLeaving?: boolean;
  /** Who has it too, as far as was told. */
  takenBy?: PathOwner | undefined;
  /** Removes the route; only there while the claim is served. */
  remove?: () => void;
  /** Removes what looks at its requests. */
  unwatch?: () => void;
}

/** Where the paths of an application are kept: nodes of all types have to see the same. */
const ofApp = Symbol("paths of @dimflow/node-red-dimensioner");

/**
 * Serves webhooks and pages on an express application, each path once: a second claim to a path is notified, and served as soon
 * as the first one has ended. A claim that was given up is still served until another one needs its path or `settle` is
 * called, so that its handlers can ask senders to repeat the request; without a route the response would be that there
 * is no such address. No route is left when a claim has ended.
 */
export class ServedPaths {
  #claims: Claim[] = [];
  /** Which claim has handled a request. */
  readonly #handled = new WeakMap<IncomingMessage, Claim>();

  /** The paths of this application. A site that serves no paths of flows may have none. */
  static of(app: WebApp | undefined): ServedPaths {
    if (app === undefined) {
      return new ServedPaths();
    }
    const known = propertyOf(app, ofApp);
    const paths = known instanceof ServedPaths ? known : new ServedPaths();
    Reflect.set(app, ofApp, paths);
    return paths;
  }

  /** Claims a path. Returns a function that gives the claim up. */
  claim(claim: Omit<Claim, "isLeaving" | "takenBy" | "remove" | "unwatch">): () => void {
    const own: Claim = { ...claim };
    this.#claims.push(own);
    own.unwatch = watch(own.app, routeOf(own.path), (request, response) => {
      if (own.remove !== undefined) {
        keepBody(request);
      }
      if (request.method === "POST" && own.takenBy !== undefined) {
        response.once("finish", () => this.#told(own, request, response));
      }
    });
    this.#serve(own);
    return () => {
      own.isLeaving = true;
    };
  }

  /** Ends the claims that were given up; claims that wait for their paths are served. */
  settle(): void {
    for (const leaving of this.#claims.filter(({ isLeaving }) => isLeaving)) {
      this.#end(leaving);
    }
    for (const waiting of this.#claims.filter(({ remove }) => remove === undefined)) {
      this.#serve(waiting);
    }
  }

  /**
   * To be called when the flows have started: tells the claims whose path an http in node has too, of which one of the two
   * gets no requests, and those of which that is no longer so. `ownerOf` says whose route a path is.
   */
  check(ownerOf: (route: unknown) => PathOwner): void {
    for (const claim of this.#claims.filter(({ remove, isLeaving }) => remove !== undefined && !isLeaving)) {
      const shared = this.#sharedRoute(claim);
      if (shared !== undefined) {
        this.#taken(claim, ownerOf(shared.path));
      } else if (claim.takenBy !== undefined) {
        claim.takenBy = undefined;
        claim.onServed();
      }
    }
  }

  /** The route of somebody else that has a part of a path; undefined if there is none. */
  #sharedRoute({ app, path }: Claim): { readonly path: unknown } | undefined {
    const route = routeOf(path);
    const own = new Set(this.#claims.map((claim) => String(routeOf(claim.path))));
    const paths = [`/${path.base}`, ...(path.takesPart ? [`/${path.base}/secret`] : [])];
    let isBefore = true;
    for (const layer of layersOf(app)) {
      const there = propertyOf(layer, "route");
      if (there === undefined) {
        continue;
      }
      const given = propertyOf(there, "path");
      if (given instanceof RegExp && own.has(String(given))) {
        isBefore &&= String(given) !== String(route);
        continue;
      }
      // One that takes everything is no problem as long as it comes later.
      const isSame = typeof given === "string" && route.test(given);
      if (isSame || (isBefore && paths.some((one) => matches(layer, one)))) {
        return { path: given };
      }
    }
    return undefined;
  }

  #taken(claim: Claim, by: PathOwner): void {
    const before = claim.takenBy;
    claim.takenBy = by;
    if (before === undefined || before.name !== by.name || before.id !== by.id) {
      claim.onTaken(by);
    }
  }

  /** A post to a path that is taken was answered. */
  #told(own: Claim, request: IncomingMessage, { statusCode }: ServerResponse): void {
    const by = this.#handled.get(request);
    // A login of the site has refused it; or it comes again.
    const isLost = by !== own && !(by === undefined && statusCode === 401) && statusCode !== 503;
    if (isLost && own.isLeaving !== true) {
      own.onLost?.(request);
    }
  }

  #serve(own: Claim): void {
    const others = this.#claims.filter(
      (other) => other.remove !== undefined && overlap(own.path, other.path),
    );
    const holder = others.find(({ isLeaving }) => !isLeaving);
    if (holder !== undefined) {
      this.#taken(own, holder.owner);
      return;
    }
    others.forEach((other) => this.#end(other));
    const mark: Handler = (request, _response, next) => {
      this.#handled.set(request, own);
      next();
    };
    const [last, ...before] = own.handlers.toReversed();
    const handlers = last === undefined ? [] : [...before.toReversed(), mark, last];
    own.remove = addRoute(own.app, routeOf(own.path), handlers);
    own.takenBy = undefined;
    own.onServed();
  }

  #end(claim: Claim): void {
    this.#claims = this.#claims.filter((other) => other !== claim);
    claim.remove?.();
    claim.unwatch?.();
  }
}

/** Case makes no difference, as for the routes of http in nodes. */
function overlap(one: ServedPath, other: ServedPath): boolean {
  return covers(one, other) || covers(other, one);
}

function covers({ base, takesPart, takesAll }: ServedPath, other: ServedPath): boolean {
  const [own, given] = [base.toLowerCase(), other.base.toLowerCase()];
  if (takesAll === true && given.startsWith(`${own}/`)) {
    return true;
  }
  return own === given || (takesPart && given.slice(0, given.lastIndexOf("/")) === own);
}

/** A regular expression: in a path that is text, express would interpret some characters. */
function routeOf({ base, takesPart, takesAll }: ServedPath): RegExp {
  const literal = base.replace(/[.~-]/g, "\\$&");
  if (takesAll === true) {
    return new RegExp(`^/${literal}(?:/.*)?$`, "i");
  }
  return new RegExp(`^/${literal}${takesPart ? "(?:/[^/]*)?" : ""}/?$`, "i");
}

/** Adds a route; returns a function that removes it, for which express itself has nothing. */
function addRoute(app: WebApp, path: RegExp, handlers: readonly Handler[]): () => void {
  app.all(path, ...handlers);
  return () => removeLayer(app, (layer) => propertyOf(propertyOf(layer, "route"), "path") === path);
}

/**
 * Prevents other body parsers from reading a webhook's request. If the editor and the flows have the same root, the
 * editor's parsers come first: they would read a body before the secret is checked, round long ids, and respond to
 * invalid bodies with a page of their own that shows where Node-RED is installed. All other middleware, such as logins,
 * stays as it is. The core http in node is in the same place for its raw bodies.
 */
function keepBody(request: IncomingMessage): void {
  // The property by which body-parser recognizes a body that was read already.
  Reflect.set(request, "_body", true);
}

/** Looks at the requests to a path before anything else does; returns a function that ends that. */
function watch(
  app: WebApp,
  path: RegExp,
  look: (request: IncomingMessage, response: ServerResponse) => void,
): () => void {
  const outermost = outermostOf(app);
  const guard: Handler = (request, response, next) => {
    const [pathname = ""] = (request.url ?? "").split(/[?#]/);
    const root = app
      .path()
      .replace(/\/{2,}/g, "/")
      .replace(/\/$/, "");
    if (pathname.toLowerCase().startsWith(root.toLowerCase()) && path.test(pathname.slice(root.length))) {
      look(request, response);
    }
    next();
  };
  outermost.use(guard);
  const layers = layersOf(outermost);
  const own = layers.findIndex((layer) => propertyOf(layer, "handle") === guard);
  layers.unshift(...layers.splice(own, 1));
  return () => removeLayer(outermost, (layer) => propertyOf(layer, "handle") === guard);
}

function outermostOf(app: WebApp): WebApp {
  const parent = propertyOf(app, "parent");
  return isWebApp(parent) ? outermostOf(parent) : app;
}

function isWebApp(value: unknown): value is WebApp {
  return typeof value === "function" && "use" in value && "all" in value;
}

function removeLayer(app: WebApp, fits: (layer: unknown) => boolean): void {
  const layers = layersOf(app);
  const index = layers.findIndex(fits);
  if (index >= 0) {
    layers.splice(index, 1);
  }
}

/** The router of an application of express 4 (`_router`) or 5 (`router`, which throws in 4). */
function layersOf(app: WebApp): unknown[] {
  const stack = propertyOf(propertyOf(app, "_router") ?? propertyOf(app, "router"), "stack");
  return Array.isArray(stack) ? stack : [];
}

/** Whether a layer of a router takes this path. */
function matches(layer: unknown, path: string): boolean {
  const match = propertyOf(layer, "match");
  return typeof match === "function" && Reflect.apply(match, layer, [path]) === true;
}

/** Reads a property of an object or a function; routers and applications are functions. */
function propertyOf(value: unknown, name: string | symbol): unknown {
  return (typeof value === "object" && value !== null) || typeof value === "function"
    ? Reflect.get(value, name)
    : undefined;
}

/** Why a path is not served, or not alone. */
export type PathProblem =
  | { readonly key: "noWebServer" }
  | { readonly key: "pathTaken"; readonly by: PathOwner };

interface Served extends Pick<Claim, "onLost" | "onServed" | "owner" | "path"> {
  readonly handle: Handler;
  /** Called with a problem; if another node has the path, it is served as soon as that one is gone. */
  readonly onProblem: (problem: PathProblem) => void;
}

/**
 * Serves a webhook or a page where Node-RED serves the paths of flows, behind the site's own middleware; returns a function that
 * ends that.
 */
export function servePath(RED: NodeAPI, { handle, onProblem, ...claim }: Served): () => void {
  // A site can disable all paths of flows.
  const root: unknown = RED.settings.httpNodeRoot;
  if (root === false) {
    onProblem({ key: "noWebServer" });
    return () => undefined;
  }
  return ServedPaths.of(RED.httpNode).claim({
    ...claim,
    app: RED.httpNode,
    handlers: [...middleware(RED), handle],
    onTaken: (by) => onProblem({ key: "pathTaken", by }),
  });
}

/** A node as the owner of a path. */
export function ownerOf({ id, name = "" }: Pick<Node, "id" | "name">): PathOwner {
  return { id, name: name.trim() === "" ? null : name.trim() };
}

/** To be called when the flows have started: http in nodes may have come or gone. */
export function checkPaths(RED: NodeAPI): void {
  ServedPaths.of(RED.httpNode).check((route) => httpInOf(RED, route));
}

/** The http in node whose route a path is. */
function httpInOf(RED: NodeAPI, route: unknown): PathOwner {
  const found: PathOwner[] = [];
  RED.nodes.eachNode((definition) => {
    const url = propertyOf(definition, "url");
    if (definition.type === "http in" && typeof url === "string" && `/${url.replace(/^\//, "")}` === route) {
      found.push(ownerOf(definition));
    }
  });
  return found[0] ?? { name: null, id: null };
}

/** What a status says of a problem with a path, and what the log says. */
export function sayPathProblem(
  RED: NodeAPI,
  problem: PathProblem,
  path: ServedPath,
): { readonly status: StatusText; readonly log: string } {
  if (problem.key === "noWebServer") {
    return { status: { key: problem.key, values: {} }, log: translateStatus(RED, problem.key) };
  }
  const { name, id } = problem.by;
  const status: StatusText =
    name === null ? { key: "pathTaken", values: {} } : { key: "pathTakenBy", values: { name } };
  const said = translateStatus(RED, status.key, status.values);
  // Whoever looks for a node without a name finds it by its ID.
  const where = [...(name === null && id !== null ? [id] : []), `/${path.base}`];
  return { status, log: `${said} (${where.join(", ")})` };
}

interface StatusText {
  readonly key: StatusKey;
  readonly values: StatusValues;
}

/** The middleware of the site for the paths of flows, such as a login. */
function middleware(RED: NodeAPI): Handler[] {
  const given: unknown = Reflect.get(RED.settings, "httpNodeMiddleware");
  const list: unknown[] = Array.isArray(given) ? given : [given];
  return list.filter((one): one is Handler => typeof one === "function");
}
