import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import * as v from "valibot";
import { type AccessRules, type Recognized, addressOf, isFromOwnPage, recognize } from "../../access/gate.ts";
import { type FailedLogins, type PasswordChecks, type Person, findLogin } from "../../access/logins.ts";
import { type Sessions, endedCookie, readToken, tokenCookie } from "../../access/sessions.ts";
import type { Database, DatabaseLocation } from "../../database/database.ts";
import { type DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { PackageFilter, ReportHeading } from "../../model/archive-reports.ts";
import type { EvidencePackage } from "../../model/shapes.ts";
import { packageVersion } from "../../package/package-files.ts";
import { pagePolicy } from "../../package/page-headers.ts";
import type { Language } from "../../rules/languages.ts";
import { longestNameLength, longestPasswordLength } from "../../rules/logins.ts";
import type { VaultLocation } from "../../vault/store.ts";
import { provePackages } from "../../vault/log/package-proof.ts";
import type { IndexedPackage } from "../../vault/packages/package-index.ts";
import type { ExportHead } from "../export/export-packages.ts";
import { type OpenedPackage, longestReason, openPackage, longestNumber } from "../hold.ts";
import { longestClaim, readLogo } from "../report/heading.ts";
import {
  type EvidenceSource,
  addNumbers,
  changeHold,
  demandListed,
  demandPackages,
  findPackages,
  leaveOutPruned,
  noteVerified,
} from "../packages.ts";
import { runInThread } from "../run-in-thread.ts";
import { findUndelivered, listDevices, listWorks } from "../search.ts";
import { type ReportTexts, readReportTexts } from "../report/report-texts.ts";
import {
  Refusal,
  OneAtATime,
  headersOf,
  readJsonBody,
  sendJson,
  sendNothing,
  sendPackageFile,
  chooseLanguage,
  readPageFile,
  readTexts,
  shownTypes,
  typeOf,
} from "./requests.ts";
import { nameOfTable, tableType, writeTable } from "../table.ts";
import { type SearchGiven, longestText, search, searchForTable } from "./search.ts";

export interface EvidencePageOptions {
  readonly rules: AccessRules;
  readonly memory: LoginMemory;
  /** Opens the store for one request. Rejects with ERR_CONFIG, ERR_STORE and ERR_FILE. */
  readonly open: (operation: string) => Promise<PageSource>;
  readonly openDatabase: () => Promise<Pick<Database, "transaction">>;
  /** The sentence of an error that concerns what somebody has asked for. */
  readonly say: (error: DimensionerError) => string;
  /** Called with each other error: its sentence can name folders of this computer, so it belongs into the log. */
  readonly onProblem: (error: unknown) => void;
}

/** One request, as far as it was understood. */
interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path of the page as the browser knows it, without a slash at the end. */
  readonly path: string;
  /** The parts of the path below the page's own. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}

/** Serves the evidence page of one store, and what it asks for. */
export class EvidencePage {
  readonly #options: EvidencePageOptions;
  readonly #closing = new AbortController();
  readonly #turns = new OneAtATime();
  /** Of requests that read all open jobs, of which there are thousands while the packages are away. */
  readonly #looks = new OneAtATime();
  readonly #exports = new Exports(this.#turns);

  constructor(options: EvidencePageOptions) {
    this.#options = options;
  }

  /** Ends the requests that run; those that come later are refused with a time after which to try again. */
  close(): void {
    this.#closing.abort();
  }

  /** Answers one request; `base` is the path of the page below the root of the flows. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse, base: string): Promise<void> {
    const left = new AbortController();
    response.once("close", () => left.abort());
    const signal = AbortSignal.any([left.signal, this.#closing.signal]);
    try {
      this.#closing.signal.throwIfAborted();
      await this.#answer({ request, response, signal, ...readPath(request, base) });
    } catch (error) {
      // Whatever a close has cut is asked for again from the node that comes next.
      const isReplaced = this.#closing.signal.aborted;
      this.#refuse(response, isReplaced ? new Refusal(503, "busy", { "retry-after": "2" }) : error);
    }
  }

  async #answer(asked: Asked): Promise<void> {
    const { request, response, parts } = asked;
    const [first = "", ...rest] = parts;
    if (parts.length === 0) {
      // The addresses in the page are relative to a folder.
      sendNothing(response, 308, { location: `${asked.path.split("/").at(-1) ?? ""}/` });
      return;
    }
    if (first === "api") {
      await this.#answerApi({ ...asked, parts: rest });
      return;
    }
    const isRead = request.method === "GET" || request.method === "HEAD";
    const file =
      isRead && rest.length === 0 ? await readPageFile(first === "" ? "index.html" : first) : undefined;
    if (file === undefined) {
      throw new Refusal(404, "notFound");
    }
    const more = { "content-type": file.type, "content-length": String(file.content.length) };
    response.writeHead(200, headersOf(more, pagePolicy));
    response.end(request.method === "HEAD" ? undefined : file.content);
  }

  async #answerApi(asked: Asked): Promise<void> {
    const { method } = asked.request;
    if (method === "POST") {
      // The first check: another site must not make use of the cookie that a browser sends by itself.
      if (!isFromOwnPage(asked.request)) {
        throw new Refusal(403, "otherSite");
      }
      await this.#change(asked);
    } else if (method === "GET" || method === "HEAD") {
      await this.#read(asked);
    } else {
      throw new Refusal(405, "badRequest", { allow: "GET, HEAD, POST" });
    }
  }

  async #read(asked: Asked): Promise<void> {
    const { request, response, parts, query, signal } = asked;
    const [what, id = "", part, place = ""] = parts;
    if (what === "texts") {
      const { lang, content } = await readTexts(request.headers["accept-language"]);
      sendJson(response, 200, { lang, texts: JSON.parse(content.toString("utf8")) as unknown });
      return;
    }
    if (what === "me" && parts.length === 1) {
      const { rules, memory } = this.#options;
      const found = recognize(rules, request, memory.sessions);
      const canLogOut = rules.by === "logins";
      // Whoever has to log in first has made no mistake: a browser would write a refusal into its console.
      const isNobody = found === "unknown" && canLogOut;
      sendJson(response, 200, isNobody ? null : { ...demandKnown(found, rules), canLogOut });
      return;
    }
    const person = this.#person(request);
    if (what === "packages" && parts.length === 1) {
      const source = await this.#options.open("find");
      const given = { text: textOf(query), period: query.get("period") ?? "" };
      const found = await search(source, { ...given, filter: readFilter(query) }, signal);
      const texts = await textsFor(request);
      sendJson(response, 200, { ...found, packages: found.packages.map((one) => shownPackage(one, texts)) });
    } else if (what === "undelivered" && parts.length === 1) {
      // Also while the folder or bucket of the packages is away.
      const text = textOf(query);
      const found = await this.#looks.run(async () => {
        if (signal.aborted) {
          throw new Refusal(503, "busy", { "retry-after": "2" });
        }
        return findUndelivered(await this.#options.openDatabase(), text);
      });
      sendJson(response, 200, found);
    } else if (what === "devices" && parts.length === 1) {
      const source = await this.#options.open("find");
      const [found, works] = await Promise.all([listDevices(source.database), listWorks(source.database)]);
      sendJson(response, 200, { devices: found, works });
    } else if (what === "packages" && parts.length === 2) {
      const found = await findPackage(await this.#options.open("find"), id);
      sendJson(response, 200, shownPackage(found, await textsFor(request)));
    } else if (what === "packages" && parts.length === 4 && part === "files") {
      const source = await this.#options.open("find");
      const { opened, item } = await findFile(source, id, place);
      await sendPackageFile(request, response, opened, item, source.vault);
    } else if (what === "exports" && parts.length === 2 && request.method === "GET") {
      const open = () => this.#options.open("export");
      await this.#exports.send(response, { id, person: person.name, open, signal });
    } else {
      throw new Refusal(404, "notFound");
    }
  }

  async #change(asked: Asked): Promise<void> {
    const { request, response, parts, path } = asked;
    const { rules, memory } = this.#options;
    const [what, id = "", action] = parts;
    if (what === "login" && parts.length === 1) {
      await logIn(request, response, { rules, memory, path });
      return;
    }
    const person = this.#person(request);
    if (what === "logout" && parts.length === 1) {
      logOut(request, response, { memory, path });
    } else if (what === "packages" && parts.length === 3 && action === "verify") {
      sendJson(response, 200, await this.#verify(id, asked.signal));
    } else if (what === "exports" && parts.length === 1) {
      const { packages, claim } = await readJsonBody(request, exportBody);
      const language = chooseLanguage(request.headers["accept-language"] ?? "");
      const source = await this.#options.open("export");
      sendJson(response, 200, {
        id: await this.#exports.ask(source, packages, { person: person.name, language, claim }),
      });
    } else if (what === "tables" && parts.length === 1) {
      const given = await readJsonBody(request, tableBody);
      await this.#sendTable(response, given, asked.signal);
    } else if (what === "packages" && parts.length === 3 && (action === "hold" || action === "release")) {
      demandManage(person);
      const seen = await readJsonBody(request, holdBody);
      const source = await this.#options.open(action);
      const change = { ...seen, what: action, person: person.name } as const;
      const changed = await changeHoldOf(source, id, change);
      sendJson(response, 200, shownPackage(changed, await textsFor(request)));
    } else if (what === "packages" && parts.length === 3 && action === "numbers") {
      demandManage(person);
      const { number } = await readJsonBody(request, numberBody);
      const source = await this.#options.open("name");
      const change = { numbers: [number], person: person.name, reason: null };
      const changed = await addNumbers(source, { by: "packageId", value: id }, change);
      sendJson(response, 200, shownPackage(changed, await textsFor(request)));
    } else {
      throw new Refusal(404, "notFound");
    }
  }

  /** Each package is read, so that nothing else verifies or reads many meanwhile. */
  async #sendTable(response: ServerResponse, given: SearchGiven, signal: AbortSignal): Promise<void> {
    const { packages, more } = await this.#turns.run(async () =>
      searchForTable(await this.#options.open("find"), given, signal),
    );
    const content = Buffer.from(writeTable(packages));
    response.writeHead(
      200,
      headersOf({
        "content-type": tableType,
        "content-length": String(content.length),
        "content-disposition": `attachment; filename="${nameOfTable()}"`,
        "x-rows": String(packages.length),
        ...(more ? { "x-more": "true" } : {}),
      }),
    );
    response.end(content);
  }

  async #verify(id: string, signal: AbortSignal): Promise<object> {
    if (this.#turns.isBusy) {
      throw new Refusal(503, "verifying", { "retry-after": "5" });
    }
    return this.#turns.run(async () => verifyPackage(await this.#options.open("verify"), id, signal));
  }

  #person(request: IncomingMessage): Person {
    const { rules, memory } = this.#options;
    return demandKnown(recognize(rules, request, memory.sessions), rules);
  }

  #refuse(response: ServerResponse, error: unknown): void {
    if (response.headersSent || response.destroyed) {
      // The length that was promised cannot be kept.
      response.destroy();
    } else if (error instanceof Refusal) {
      sendJson(response, error.status, { reason: error.reason }, error.headers);
    } else if (isDimensionerError(error) && (error.code === "ERR_NOT_FOUND" || error.code === "ERR_INPUT")) {
      const status = error.code === "ERR_NOT_FOUND" ? 404 : 400;
      sendJson(response, status, { reason: "failed", text: this.#options.say(error) });
    } else {
      this.#options.onProblem(error);
      this.#refuse(response, new Refusal(503, "unavailable"));
    }
  }
}

function demandKnown(found: Recognized, { by }: AccessRules): Person {
  if (found === "refused") {
    throw new Refusal(403, "notThroughProxy");
  }
  if (found === "unknown") {
    throw new Refusal(401, by === "logins" ? "logIn" : "noName");
  }
  return found;
}

function demandManage({ right }: Person): void {
  if (right !== "manage") {
    throw new Refusal(403, "onlyRead");
  }
}

/** What somebody has typed; nobody types more. */
function textOf(query: URLSearchParams): string {
  return (query.get("text") ?? "").trim().slice(0, longestText);
}

function readFilter(query: URLSearchParams): PackageFilter {
  const has = (name: string): boolean => query.get(name) === "true";
  return {
    device: query.get("device") ?? "",
    work: query.get("work") ?? "",
    period: query.get("during") ?? "",
    film: has("film"),
    onHold: has("onHold"),
    incomplete: has("incomplete"),
  };
}

/** Reads the path of a request; `url` is relative to the application, `originalUrl` to the server. */
function readPath(request: IncomingMessage, base: string): Pick<Asked, "path" | "parts" | "query"> {
  const [pathname = "", search = ""] = (request.url ?? "/").split("?");
  const below = pathname.slice(base.length + 1);
  const original: unknown = Reflect.get(request, "originalUrl");
  const [outer = ""] = (typeof original === "string" ? original : pathname).split("?");
  const path = outer.slice(0, outer.length - below.length);
  let parts: string[];
  try {
    parts = below.split("/").slice(1).map(decodeURIComponent);
  } catch {
    throw new Refusal(400, "badRequest");
  }
  return { path, parts, query: new URLSearchParams(search) };
}

/** What is kept of logins while the process runs; a deploy changes none of it. */
export interface LoginMemory {
  readonly sessions: Sessions;
  readonly failed: FailedLogins;
  readonly checks: PasswordChecks;
}

const loginBody = v.strictObject({
  name: v.pipe(v.string(), v.maxLength(longestNameLength)),
  password: v.pipe(v.string(), v.maxLength(longestPasswordLength)),
});

/**
 * Logs somebody in. Whether the name or the password is wrong, or there were too many tries, does not tell whether there is
 * such a login: neither do the answers, nor the time that they take.
 */
async function logIn(
  request: IncomingMessage,
  response: ServerResponse,
  { rules, memory, path }: { rules: AccessRules; memory: LoginMemory; path: string },
): Promise<void> {
  if (rules.by !== "logins") {
    throw new Refusal(404, "notFound");
  }
  const { sessions, failed, checks } = memory;
  const { name, password } = await readJsonBody(request, loginBody);
  const address = addressOf(request);
  const seconds = failed.waitSeconds(name, address);
  if (seconds > 0) {
    throw new Refusal(429, "tooManyTries", { "retry-after": String(seconds) });
  }
  // Counted before it is checked: many tries at once must not all come before the first failure.
  failed.add(name, address);
  const login = findLogin(rules.logins, name);
  const isRight = await checks.check(password, login?.hash);
  if (isRight === "busy") {
    throw new Refusal(503, "busy", { "retry-after": "5" });
  }
  if (!isRight || login === undefined) {
    throw new Refusal(401, "wrongLogin");
  }
  failed.succeeded(name, address);
  // A new token with every login: one that somebody else has put into the browser before gives no access.
  endSession(request, sessions);
  sendNothing(response, 204, { "set-cookie": tokenCookie(request, path, sessions.begin(login)) });
}

function logOut(
  request: IncomingMessage,
  response: ServerResponse,
  { memory, path }: { memory: LoginMemory; path: string },
): void {
  endSession(request, memory.sessions);
  sendNothing(response, 204, { "set-cookie": endedCookie(request, path) });
}

function endSession(request: IncomingMessage, sessions: Sessions): void {
  const token = readToken(request);
  if (token !== undefined) {
    sessions.end(token);
  }
}

/** The packages of a store and its database, and where they are. */
export interface PageSource extends EvidenceSource {
  readonly databaseLocation: DatabaseLocation;
  readonly filesLocation: VaultLocation;
  /** A PEM file with the root certificates that signers of time stamps are checked against; blank: none. */
  readonly timestampRoots: string;
  /** Above the reports of exports. */
  readonly heading?: ReportHeading;
}

const mostFindings = 100;

const holdBody = v.strictObject({
  /** When the hold began that the page shows; null if it shows none, or one without a time. */
  heldAt: v.nullable(v.string()),
  reason: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(longestReason)),
});

const numberBody = v.strictObject({
  number: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(longestNumber)),
});

/** The texts in the language that the browser prefers. */
function textsFor({ headers }: IncomingMessage): Promise<ReportTexts> {
  return readReportTexts(chooseLanguage(headers["accept-language"] ?? ""));
}

/** A package as the page shows it: without the paths of this computer. Files are asked for by their place in the list. */
function shownPackage({ folder: _folder, files, ...found }: EvidencePackage, texts: ReportTexts): object {
  return {
    ...found,
    missing: found.missing.map(texts.missing),
    files: files.map(({ path, ...file }) => ({ ...file, name: path.split(/[/\\]/).at(-1) ?? "" })),
  };
}

async function findPackage(source: EvidenceSource, id: string): Promise<EvidencePackage> {
  const [found] = await findPackages(source, { by: "packageId", value: id, limit: 1 });
  if (found === undefined) {
    throw new Refusal(404, "notFound");
  }
  return found;
}

/** The item of a package's manifest at this place; "picture" is the first picture that browsers show. */
async function findFile(
  source: EvidenceSource,
  id: string,
  place: string,
): Promise<{ readonly opened: OpenedPackage; readonly item: OpenedPackage["manifest"]["items"][number] }> {
  // Each picture is asked for by itself, and one that is gone cannot be opened anyway.
  const [indexed] = await demandListed(source, { by: "packageId", value: id, limit: 1 });
  if (indexed === undefined) {
    throw new Refusal(404, "notFound");
  }
  const opened = await openPackage(source.vault, indexed);
  const { items } = opened.manifest;
  const pictures = items.filter((one) => typeOf(one).startsWith("image/"));
  const item =
    place === "picture"
      ? (pictures.find((one) => shownTypes.has(typeOf(one))) ?? pictures[0])
      : items[/^\d{1,6}$/.test(place) ? Number(place) : -1];
  if (item === undefined) {
    throw new Refusal(404, "notFound");
  }
  return { opened, item };
}

interface HoldChange {
  readonly what: "hold" | "release";
  readonly reason: string;
  readonly person: string;
}

/** Changes the hold if it is still the one that its person sees. */
async function changeHoldOf(
  source: EvidenceSource,
  id: string,
  { heldAt, ...change }: HoldChange & { readonly heldAt: string | null },
): Promise<EvidencePackage> {
  const { hold } = await findPackage(source, id);
  if ((hold === null) !== (change.what === "hold") || (hold?.heldAt ?? null) !== heldAt) {
    throw new Refusal(409, "holdChanged");
  }
  const [changed] = await changeHold(source, { by: "packageId", value: id, limit: 1 }, change);
  if (changed === undefined) {
    throw new Refusal(404, "notFound");
  }
  return changed;
}

/** Hashes the files of a package again, in a thread of their own, and verifies its time stamp. */
async function verifyPackage(source: PageSource, id: string, signal: AbortSignal): Promise<object> {
  const found = await demandPackages(source, { by: "packageId", value: id, limit: 1 });
  const packages = await provePackages(source, found, source.timestampRoots);
  const { first, findings, verdict, notes, verified } = await runInThread(
    {
      action: "verify",
      vault: source.filesLocation,
      database: source.databaseLocation,
      packages,
      roots: source.timestampRoots,
      most: mostFindings,
    },
    { signal, onProgress: () => undefined },
  );
  await noteVerified(source, verified);
  const { name, version } = packageVersion();
  return {
    verdict,
    findings: first,
    findingCount: findings,
    timesInDoubt: notes.flatMap(({ times = [] }) => times),
    timestamp: notes.find(({ kind }) => kind === "timestamp")?.timestamp ?? null,
    damage: verified[0]?.finding ?? null,
    verifiedAtUtc: new Date().toISOString(),
    software: `${name} ${version}`,
  };
}

/** An export that somebody has asked for, and not downloaded yet. */
interface AskedExport {
  readonly person: string;
  readonly packages: readonly IndexedPackage[];
  readonly language: Language;
  /** The number of the claim that it is for; blank: none. */
  readonly claim: string;
  readonly askedAt: number;
}

const mostPackages = 100;
/** A browser begins a download at once. */
const keptMs = 60_000;
const mostKept = 20;
const mostRunning = 4;
/** A browser that takes nothing for so long does not come back. */
const stalledMs = 60_000;

/** As the addresses of searches have it. */
const tableBody = v.strictObject({
  text: v.string(),
  period: v.string(),
  filter: v.strictObject({
    device: v.string(),
    work: v.string(),
    period: v.string(),
    film: v.boolean(),
    onHold: v.boolean(),
    incomplete: v.boolean(),
  }),
});

const exportBody = v.strictObject({
  packages: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(mostPackages)),
  claim: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(longestClaim)), ""),
});

/**
 * The exports of an evidence page. A download is a request that reads, which any site can cause; so a post has to ask
 * for it first, and returns an ID that is good for one download by the same person.
 */
class Exports {
  readonly #asked = new Map<string, AskedExport>();
  readonly #turns: OneAtATime;
  #running = 0;

  constructor(turns: OneAtATime) {
    this.#turns = turns;
  }

  /** Looks the packages up. Returns the ID of the export. Throws a Refusal, ERR_CONFIG, ERR_NOT_FOUND and ERR_STORE. */
  async ask(
    source: PageSource,
    ids: readonly string[],
    about: Pick<AskedExport, "person" | "language" | "claim">,
  ): Promise<string> {
    this.#forgetOld();
    this.#refuseIfBusy();
    // Said now, and not as a download that has failed.
    await readLogo(source.heading?.logo);
    const packages: IndexedPackage[] = [];
    for (const value of new Set(ids)) {
      packages.push(...(await demandListed(source, { by: "packageId", value, limit: 1 })));
    }
    const id = randomBytes(16).toString("base64url");
    this.#asked.set(id, { ...about, packages, askedAt: performance.now() });
    return id;
  }

  /**
   * Verifies the packages of an export in its turn, and sends the ZIP while it is written. Rejects with a Refusal, ERR_FILE,
   * ERR_STORE and ERR_CANCELLED; if that is after the headers, the ZIP is not whole.
   */
  async send(response: ServerResponse, { id, person, open, signal }: SentExport): Promise<void> {
    this.#forgetOld();
    const asked = this.#asked.get(id);
    if (asked === undefined || asked.person !== person) {
      throw new Refusal(404, "exportGone");
    }
    this.#refuseIfBusy();
    this.#asked.delete(id);
    this.#running += 1;
    try {
      await this.#stream(response, asked, await open(), signal);
    } finally {
      this.#running -= 1;
    }
    response.end();
  }

  /** Others may verify as soon as this export only waits for the network. */
  async #stream(
    response: ServerResponse,
    { packages, language, claim }: AskedExport,
    source: PageSource,
    signal: AbortSignal,
  ): Promise<void> {
    const there = await leaveOutPruned(source, packages);
    if (there.length === 0) {
      throw new Refusal(404, "notFound");
    }
    const proven = await provePackages(source, there, source.timestampRoots);
    const begun = Promise.withResolvers<void>();
    const stream = {
      begin(head: ExportHead): void {
        response.writeHead(200, headersOf(headersFor(head)));
        begun.resolve();
      },
      async write(block: Uint8Array): Promise<void> {
        if (!response.write(block)) {
          const stalled = AbortSignal.timeout(stalledMs);
          await once(response, "drain", { signal: AbortSignal.any([signal, stalled]) });
        }
      },
    };
    let sending: Promise<unknown> = Promise.resolve();
    await this.#turns.run(() => {
      const { filesLocation: vault, timestampRoots: roots, heading } = source;
      const addressed = { heading, claim };
      const task = { action: "stream", vault, packages: proven, language, roots, addressed } as const;
      sending = runInThread(task, { signal, onProgress: () => undefined, stream });
      return Promise.race([begun.promise, sending]);
    });
    await sending;
  }

  #refuseIfBusy(): void {
    if (this.#asked.size > mostKept || this.#running >= mostRunning) {
      throw new Refusal(503, "busy", { "retry-after": "5" });
    }
  }

  #forgetOld(): void {
    for (const [id, { askedAt }] of this.#asked) {
      if (performance.now() - askedAt > keptMs) {
        this.#asked.delete(id);
      }
    }
  }
}

interface SentExport {
  readonly id: string;
  /** Who downloads it. */
  readonly person: string;
  readonly open: () => Promise<PageSource>;
  readonly signal: AbortSignal;
}

/** A name in any language (RFC 8187), and one for programs that do not know that. */
function headersFor({ bytes, filename }: ExportHead): Record<string, string> {
  const plain = filename.replaceAll(/[^\w.-]/g, "_");
  const encoded = encodeURIComponent(filename).replaceAll(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16)}`,
  );
  return {
    "content-type": "application/zip",
    "content-length": String(bytes),
    "content-disposition": `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`,
  };
}
