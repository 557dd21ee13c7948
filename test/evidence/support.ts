import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AccessRules } from "../../src/access/gate.ts";
import { FailedLogins, PasswordChecks } from "../../src/access/logins.ts";
import { Sessions } from "../../src/access/sessions.ts";
import { EvidencePage, type LoginMemory } from "../../src/evidence/page/evidence-page.ts";
import type { ReportHeading } from "../../src/index.ts";
import { StoreHandle } from "../../src/runtime/evidence/evidence-work.ts";
import { Store, type VaultLocation } from "../../src/vault/store.ts";
import { databaseOf, newDatabases } from "../archive/store.ts";

/** Requests that wait before they open the store. */
export interface Held {
  readonly arrived: Promise<void>;
  /** How many have arrived. */
  count(): number;
  release(): void;
}

export interface Served {
  /** The address of the page, with a slash at its end. */
  readonly url: string;
  /** What the log would say. */
  readonly problems: readonly unknown[];
  /** Ends the page as a node that is closed does. */
  close(): Promise<void>;
  /** Holds all requests that open the store for this operation, or its database alone: "database". */
  hold(operation: string): Held;
  /** Sends a request as the page in a browser does. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

export function newMemory(now?: () => number): LoginMemory {
  return { sessions: new Sessions(now), failed: new FailedLogins(now), checks: new PasswordChecks() };
}

/** Serves the page of an archive that `fillArchive` has made, on a real server, until `body` has ended. */
export function withPage(
  root: string,
  rules: AccessRules,
  body: (served: Served) => Promise<void>,
  memory = newMemory(),
  timestampRoots = "",
  heading: ReportHeading = { name: "" },
): Promise<void> {
  const files = { kind: "folder", path: root } as const;
  return withPageOf(root, files, rules, body, memory, timestampRoots, heading);
}

/** The same, with the packages of that archive in another place. */
export async function withPageOf(
  root: string,
  filesLocation: VaultLocation,
  rules: AccessRules,
  body: (served: Served) => Promise<void>,
  memory = newMemory(),
  timestampRoots = "",
  heading: ReportHeading = { name: "" },
): Promise<void> {
  const databaseLocation = { kind: "file", file: databaseOf(root) } as const;
  const handle = new StoreHandle(() => new Store(databaseLocation, filesLocation, newDatabases()));
  const { database, log } = await handle.open();
  const problems: unknown[] = [];
  const holds = new Map<string, () => Promise<void>>();
  const hold = (operation: string): Held => {
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // Each of them: a page reads files too, of which one may still be on its way.
    let count = 0;
    holds.set(operation, () => {
      count += 1;
      arrived.resolve();
      return released.promise;
    });
    const release = (): void => {
      holds.delete(operation);
      released.resolve();
    };
    return { arrived: arrived.promise, count: () => count, release };
  };
  const page = new EvidencePage({
    rules,
    memory,
    open: async (operation) => {
      await holds.get(operation)?.();
      return {
        database,
        log,
        vault: await handle.openVault(filesLocation),
        operation,
        databaseLocation,
        filesLocation,
        timestampRoots,
        heading,
      };
    },
    openDatabase: async () => {
      await holds.get("database")?.();
      return database;
    },
    say: (error) => error.message,
    onProblem: (error) => problems.push(error),
  });
  const server = createServer((request, response) => void page.handle(request, response, "evidence"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const url = `${origin}/evidence/`;
  const ask = (path: string, init?: RequestInit): Promise<Response> => fetch(new URL(path, url), init);
  const close = async (): Promise<void> => {
    page.close();
    await handle.close();
  };
  try {
    await body({
      url,
      close,
      problems,
      hold,
      ask,
      post: (path, given = {}, headers = {}) =>
        ask(path, {
          method: "POST",
          headers: { "content-type": "application/json", origin, ...headers },
          body: JSON.stringify(given),
        }),
    });
  } finally {
    server.closeAllConnections();
    server.close();
    await close();
  }
}

/** The packages that a search answers with. */
export async function packagesOf<T>(response: Response): Promise<readonly T[]> {
  const { packages } = (await response.json()) as { packages: readonly T[] };
  return packages;
}

/** The cookie that a login has given, as a request sends it. */
export function cookieOf(response: Response): string {
  return (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

/** Asserts the headers of every response: no cache, no frame, no guessing of types, no foreign content. */
export function assertGuarded(response: Response): void {
  const header = (name: string): string => response.headers.get(name) ?? "";
  assert.equal(header("cache-control"), "no-store");
  assert.equal(header("x-content-type-options"), "nosniff");
  assert.equal(header("x-frame-options"), "DENY");
  assert.equal(header("referrer-policy"), "no-referrer");
  assert.equal(header("cross-origin-resource-policy"), "same-origin");
  assert.match(header("content-security-policy"), /^default-src 'none'; .*frame-ancestors 'none'/);
  assert.doesNotMatch(header("content-security-policy"), /unsafe|\*|data:/);
}
