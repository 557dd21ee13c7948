import type { IncomingMessage, ServerResponse } from "node:http";

type Next = (error?: unknown) => void;
export type Handler = (request: IncomingMessage, response: ServerResponse, next: Next) => unknown;

/** As much of an express application as a route needs. */
export interface WebApp {
  all(path: RegExp, ...handlers: Handler[]): unknown;
  use(handler: Handler): unknown;
  /** Where the application is mounted, seen from the outermost one. */
  path(): string;
}

/** Where a webhook is served, below the root that the application itself has. */
export interface WebhookPath {
  /** "dimensioner/transaction": its parts joined, without a slash at either end. */
  readonly base: string;
  /** Whether one more part, the secret, may follow. */
  readonly takesPart: boolean;
}

/** What stands behind the base in the address of a request; undefined where nothing does. */
export function partBehind({ base }: WebhookPath, url: string | undefined): string | undefined {
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
  readonly path: WebhookPath;
  readonly app: WebApp;
  readonly handlers: readonly Handler[];
  readonly onServed: () => void;
  readonly onTaken: () => void;
  isLeaving?: boolean;
  /** There while the claim is served. */
  remove?: () => void;
}

/**
 * Serves webhooks on an express application, each path once: a second claim to it is told, and served as soon as the
 * first one is gone. A claim that is given up is served on until another one wants its path or `settle` is called: its
 * handlers can then ask senders to come back, where no route at all would say that there is no such address. Nothing
 * stays in the application's routes when a claim ends.
 */
export class WebhookPaths {
  #claims: Claim[] = [];

  /** Returns what gives the claim up. */
  claim(claim: Omit<Claim, "isLeaving" | "remove">): () => void {
    const own: Claim = { ...claim };
    this.#claims.push(own);
    this.#serve(own);
    return () => {
      own.isLeaving = true;
    };
  }

  /** Ends the claims that were given up; who waited for their paths is served. */
  settle(): void {
    for (const leaving of this.#claims.filter(({ isLeaving }) => isLeaving)) {
      this.#end(leaving);
    }
    for (const waiting of this.#claims.filter(({ remove }) => remove === undefined)) {
      this.#serve(waiting);
    }
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
function overlap(one: WebhookPath, other: WebhookPath): boolean {
  return covers(one, other) || covers(other, one);
}

function covers({ base, takesPart }: WebhookPath, other: WebhookPath): boolean {
  const [own, given] = [base.toLowerCase(), other.base.toLowerCase()];
  return own === given || (takesPart && given.slice(0, given.lastIndexOf("/")) === own);
}

/** A pattern of our own: in a path that is text, express would take some characters for more than they are. */
function routeOf({ base, takesPart }: WebhookPath): RegExp {
  const literal = base.replace(/[.~-]/g, "\\$&");
  return new RegExp(`^/${literal}${takesPart ? "(?:/[^/]*)?" : ""}/?$`, "i");
}

/** Adds a route; returns what takes it out again, for which express itself has nothing. */
function addRoute(app: WebApp, path: RegExp, handlers: readonly Handler[]): () => void {
  app.all(path, ...handlers);
  return () => removeLayer(app, (layer) => propertyOf(propertyOf(layer, "route"), "path") === path);
}

/**
 * Keeps the body parsers of others from a webhook's requests. Where editor and flows have the same root, those of the
 * editor come first: they would read a body before any secret is looked at, round long ids, and answer what they cannot
 * read with a page of their own that shows where Node-RED is installed. Everything else on the way, logins above all,
 * stays as it is. Core's http in node stands in the same place for its raw bodies.
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
      // The mark of a body that has been read, which body-parser leaves alone.
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

/** The routes of an application of express 4 (`_router`) or 5 (`router`, which throws in 4). */
function layersOf(app: WebApp): unknown[] {
  const stack = propertyOf(propertyOf(app, "_router") ?? propertyOf(app, "router"), "stack");
  return Array.isArray(stack) ? stack : [];
}

/** Of an object or a function, which routers and applications are. */
function propertyOf(value: unknown, name: string): unknown {
  return (typeof value === "object" && value !== null) || typeof value === "function"
    ? Reflect.get(value, name)
    : undefined;
}
