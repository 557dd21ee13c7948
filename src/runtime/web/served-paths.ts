import type { IncomingMessage, ServerResponse } from "node:http";
import type { NodeAPI } from "node-red";

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

interface Claim {
  readonly path: ServedPath;
  readonly app: WebApp;
  readonly handlers: readonly Handler[];
  readonly onServed: () => void;
  readonly onTaken: () => void;
  isLeaving?: boolean;
  /** Whether another node of the flows has a part of it, as far as was told. */
  isShared?: boolean;
  /** Removes the route; only there while the claim is served. */
  remove?: () => void;
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
  claim(claim: Omit<Claim, "isLeaving" | "isShared" | "remove">): () => void {
    const own: Claim = { ...claim };
    this.#claims.push(own);
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
   * gets no requests, and those of which that is no longer so.
   */
  check(): void {
    for (const claim of this.#claims.filter(({ remove, isLeaving }) => remove !== undefined && !isLeaving)) {
      const isShared = this.#isShared(claim);
      if (isShared !== (claim.isShared ?? false)) {
        claim.isShared = isShared;
        (isShared ? claim.onTaken : claim.onServed)();
      }
    }
  }

  #isShared({ app, path }: Claim): boolean {
    const route = routeOf(path);
    const own = new Set(this.#claims.map((claim) => String(routeOf(claim.path))));
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
      if ((typeof given === "string" && route.test(given)) || (isBefore && matches(layer, `/${path.base}`))) {
        return true;
      }
    }
    return false;
  }

  #serve(own: Claim): void {
    const others = this.#claims.filter(
      (other) => other.remove !== undefined && overlap(own.path, other.path),
    );
    if (others.some(({ isLeaving }) => !isLeaving)) {
      own.onTaken();
      return;
    }
    others.forEach((other) => this.#end(other));
    const removeRoute = addRoute(own.app, routeOf(own.path), own.handlers);
    const removeGuard = guardBody(own.app, routeOf(own.path));
    own.remove = () => {
      removeRoute();
      removeGuard();
    };
    own.onServed();
  }

  #end(claim: Claim): void {
    this.#claims = this.#claims.filter((other) => other !== claim);
    claim.remove?.();
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
 * Prevents other body parsers from reading a webhook's requests. If the editor and the flows have the same root, the
 * editor's parsers come first: they would read a body before the secret is checked, round long ids, and respond to
 * invalid bodies with a page of their own that shows where Node-RED is installed. All other middleware, such as logins,
 * stays as it is. The core http in node is in the same place for its raw bodies.
 */
function guardBody(app: WebApp, path: RegExp): () => void {
  const outermost = outermostOf(app);
  const guard: Handler = (request, _response, next) => {
    const [pathname = ""] = (request.url ?? "").split(/[?#]/);
    const root = app
      .path()
      .replace(/\/{2,}/g, "/")
      .replace(/\/$/, "");
    if (pathname.toLowerCase().startsWith(root.toLowerCase()) && path.test(pathname.slice(root.length))) {
      // The property by which body-parser recognizes a body that was read already.
      Reflect.set(request, "_body", true);
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

interface Served {
  readonly path: ServedPath;
  readonly handle: Handler;
  readonly onServed: () => void;
  /**
   * Called with the reason why the path is not served, or not alone; if another node has it, it is served as soon as that
   * one is gone.
   */
  readonly onProblem: (problem: "noWebServer" | "pathTaken") => void;
}

/**
 * Serves a webhook or a page where Node-RED serves the paths of flows, behind the site's own middleware; returns a function that
 * ends that.
 */
export function servePath(RED: NodeAPI, { path, handle, onServed, onProblem }: Served): () => void {
  // A site can disable all paths of flows.
  const root: unknown = RED.settings.httpNodeRoot;
  if (root === false) {
    onProblem("noWebServer");
    return () => undefined;
  }
  return ServedPaths.of(RED.httpNode).claim({
    path,
    app: RED.httpNode,
    handlers: [...middleware(RED), handle],
    onServed,
    onTaken: () => onProblem("pathTaken"),
  });
}

/** The middleware of the site for the paths of flows, such as a login. */
function middleware(RED: NodeAPI): Handler[] {
  const given: unknown = Reflect.get(RED.settings, "httpNodeMiddleware");
  const list: unknown[] = Array.isArray(given) ? given : [given];
  return list.filter((one): one is Handler => typeof one === "function");
}
