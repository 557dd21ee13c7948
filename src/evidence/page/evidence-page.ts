import type { IncomingMessage, ServerResponse } from "node:http";
import { isFromOwnPage } from "../../access/own-page.ts";
import { recognize, type AccessRules } from "../../access/gate.ts";
import type { Person } from "../../access/logins.ts";
import { isDimensionerError, type DimensionerError } from "../../errors/dimensioner-error.ts";
import { pagePolicy } from "../../package/page-headers.ts";
import { headersOf, Refusal, sendJson, sendNothing } from "./answers.ts";
import { exportBody, Exports } from "./exports.ts";
import { logIn, logOut, type LoginMemory } from "./login-requests.ts";
import {
  changeHoldOf,
  findFile,
  findPackage,
  holdBody,
  shownPackage,
  verifyPackage,
  type PageSource,
} from "./package-requests.ts";
import { chooseLanguage, readPageFile, readTexts } from "./page-files.ts";
import { readJsonBody } from "./request-body.ts";
import { search } from "./search.ts";
import { sendPackageFile } from "./send-file.ts";
import { Turns } from "./turns.ts";

export interface EvidencePageOptions {
  readonly rules: AccessRules;
  readonly memory: LoginMemory;
  /** Opens the store for one request. Rejects with ERR_CONFIG, ERR_STORE and ERR_FILE. */
  readonly open: (operation: string) => Promise<PageSource>;
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
  readonly #turns = new Turns();
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
      if (this.#closing.signal.aborted) {
        throw new Refusal(503, "busy", { "retry-after": "2" });
      }
      await this.#answer({ request, response, signal, ...readPath(request, base) });
    } catch (error) {
      this.#refuse(response, error);
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
    const person = this.#person(request);
    if (what === "me" && parts.length === 1) {
      sendJson(response, 200, { ...person, canLogOut: this.#options.rules.by === "logins" });
    } else if (what === "packages" && parts.length === 1) {
      const source = await this.#options.open("find");
      const given = { text: query.get("text") ?? "", period: query.get("period") ?? "" };
      const { packages, more } = await search(source, given, signal);
      sendJson(response, 200, { packages: packages.map(shownPackage), more });
    } else if (what === "packages" && parts.length === 2) {
      sendJson(response, 200, shownPackage(await findPackage(await this.#options.open("find"), id)));
    } else if (what === "packages" && parts.length === 4 && part === "files") {
      const source = await this.#options.open("find");
      const { opened, item } = await findFile(source, id, place);
      await sendPackageFile(request, response, opened, item, source.files);
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
      const { packages } = await readJsonBody(request, exportBody);
      const language = chooseLanguage(request.headers["accept-language"] ?? "");
      const source = await this.#options.open("export");
      sendJson(response, 200, {
        id: await this.#exports.ask(source, packages, { person: person.name, language }),
      });
    } else if (what === "packages" && parts.length === 3 && (action === "hold" || action === "release")) {
      if (person.right !== "manage") {
        throw new Refusal(403, "onlyRead");
      }
      const seen = await readJsonBody(request, holdBody);
      const source = await this.#options.open(action);
      const change = { ...seen, what: action, person: person.name } as const;
      sendJson(response, 200, shownPackage(await changeHoldOf(source, id, change)));
    } else {
      throw new Refusal(404, "notFound");
    }
  }

  async #verify(id: string, signal: AbortSignal): Promise<object> {
    if (this.#turns.isBusy) {
      throw new Refusal(503, "verifying", { "retry-after": "5" });
    }
    return this.#turns.run(async () => verifyPackage(await this.#options.open("verify"), id, signal));
  }

  #person(request: IncomingMessage): Person {
    const { rules, memory } = this.#options;
    const found = recognize(rules, request, memory.sessions);
    if (found === "refused") {
      throw new Refusal(403, "notThroughProxy");
    }
    if (found === "unknown") {
      throw new Refusal(401, rules.by === "logins" ? "logIn" : "noName");
    }
    return found;
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
