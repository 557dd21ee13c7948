import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as v from "valibot";
import { recordLimits } from "../../model/parse-json.ts";
import { jsonText } from "../../model/json-text.ts";
import { contentPolicy, pageHeaders } from "../../package/page-headers.ts";
import { afterLimit } from "../../time/after-limit.ts";
import type { Vault } from "../../vault/vault.ts";
import type { OpenedPackage } from "../hold.ts";
import { readFile } from "node:fs/promises";
import { packageFolder } from "../../package/package-files.ts";
import { type Language, languages } from "../../rules/languages.ts";

/** A reason has a few hundred characters. */
const mostBytes = 16_384;
/** How much of a refused body is read, so that its sender receives the response. */
const mostRefusedBytes = 32_000_000;
/** Anybody can begin a body before a login; one that takes longer is not waited for. */
const bodyWithinMs = 10_000;

/** Reads the JSON body of a request. Throws a Refusal. Forms of other sites cannot send JSON. */
export async function readJsonBody<const TSchema extends v.GenericSchema>(
  request: IncomingMessage,
  schema: TSchema,
): Promise<v.InferOutput<TSchema>> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw new Refusal(415, "badRequest");
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stopTimer = afterLimit(bodyWithinMs, () => request.destroy(new Refusal(408, "badRequest")));
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= mostBytes) {
        chunks.push(chunk);
      } else if (bytes > mostRefusedBytes) {
        break;
      }
    }
  } finally {
    stopTimer();
  }
  if (bytes > mostBytes) {
    throw new Refusal(413, "badRequest", { connection: "close" });
  }
  const read = v.safeParse(v.pipe(jsonText(recordLimits), schema), Buffer.concat(chunks).toString("utf8"));
  if (!read.success) {
    throw new Refusal(400, "badRequest");
  }
  return read.output;
}

/** Headers of every answer. */
const headers: Readonly<Record<string, string>> = {
  ...pageHeaders,
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** The headers of an answer, with those that every answer has. */
export function headersOf(
  more: Readonly<Record<string, string>> = {},
  policy = contentPolicy,
): Record<string, string> {
  return { ...headers, "content-security-policy": policy, ...more };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  more?: Readonly<Record<string, string>>,
): void {
  const text = Buffer.from(JSON.stringify(body));
  const type = { "content-type": "application/json; charset=utf-8", "content-length": String(text.length) };
  response.writeHead(status, headersOf({ ...type, ...more }));
  response.end(text);
}

export function sendNothing(
  response: ServerResponse,
  status: number,
  more?: Readonly<Record<string, string>>,
): void {
  response.writeHead(status, headersOf({ "content-length": "0", ...more }));
  response.end();
}

/** A request that is refused. The page has a text for each reason, in its language. */
export class Refusal extends Error {
  readonly status: number;
  readonly reason: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, reason: string, more: Readonly<Record<string, string>> = {}) {
    super(reason);
    this.name = "Refusal";
    this.status = status;
    this.reason = reason;
    this.headers = more;
  }
}

/** What a browser shows on its own. Everything else is only saved, because it could be a page with scripts. */
export const shownTypes: ReadonlySet<string> = new Set([
  "image/bmp",
  "image/gif",
  "image/jpeg",
  "image/png",
  "image/webp",
  "video/mp4",
]);

/** A file that a package's manifest lists. */
type Item = OpenedPackage["manifest"]["items"][number];

/**
 * Sends a file of a package, or the part of it that a player asks for. The name comes from the manifest, which accepts only
 * names without folders, and links are not followed. The file is sent as it is; whether it is unchanged is what Verify says.
 */
export async function sendPackageFile(
  request: IncomingMessage,
  response: ServerResponse,
  { folder }: OpenedPackage,
  item: Item,
  vault: Vault,
): Promise<void> {
  const isWhole = request.method === "GET" && request.headers.range === undefined;
  const file = await vault.openToSend(join(folder, item.path), isWhole);
  if (file === undefined) {
    throw new Refusal(404, "fileGone");
  }
  // A reader that has left does not wait for a bucket that sends nothing.
  response.once("close", () => void file.close().catch(() => undefined));
  try {
    const { bytes: size } = file;
    const etag = `"${item.sha256}"`;
    const isSame = request.headers["if-range"] === undefined || request.headers["if-range"] === etag;
    const range = isSame ? readRange(request.headers.range, size) : "whole";
    if (range === "none") {
      throw new Refusal(416, "badRequest", { "content-range": `bytes */${size}` });
    }
    const part = range === "whole" ? { first: 0, last: size - 1 } : range;
    response.writeHead(range === "whole" ? 200 : 206, {
      ...headersOf(typeHeaders(item)),
      "accept-ranges": "bytes",
      "content-length": String(part.last - part.first + 1),
      etag,
      ...(range === "whole" ? {} : { "content-range": `bytes ${part.first}-${part.last}/${size}` }),
    });
    if (request.method === "HEAD") {
      response.end();
      return;
    }
    await pipeline(Readable.from(file.read(part.first, part.last), { objectMode: false }), response);
  } finally {
    await file.close();
  }
}

export function typeOf({ contentTypeFound, contentTypeAnnounced }: Item): string {
  return contentTypeFound ?? contentTypeAnnounced ?? "";
}

function typeHeaders(item: Item): Record<string, string> {
  const type = typeOf(item);
  return shownTypes.has(type)
    ? { "content-type": type }
    : { "content-type": "application/octet-stream", "content-disposition": "attachment" };
}

/** The bytes from the first to the last one, both included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads the Range header of a request for a file of this length. "whole" if there is none, or one that may be ignored:
 * several ranges, or another unit. "none" if the range lies outside of the file.
 */
function readRange(header: string | undefined, bytes: number): ByteRange | "whole" | "none" {
  const [found, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (found === undefined || (from === "" && to === "")) {
    return "whole";
  }
  if (from === "") {
    const length = Math.min(Number(to), bytes);
    return length === 0 ? "none" : { first: bytes - length, last: bytes - 1 };
  }
  const [first, last] = [Number(from), to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1)];
  if (to !== "" && Number(to) < first) {
    return "whole";
  }
  return first >= bytes ? "none" : { first, last };
}

/** Lets verifications run one after the other: several would only make the disk slower for all of them, and for the archive. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  get isBusy(): boolean {
    return this.#count > 0;
  }

  /** Begins the work when the work before has ended, however that was. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#count += 1;
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#count -= 1;
    }
  }
}

interface PageFile {
  readonly type: string;
  readonly content: Buffer;
}

const types: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
};

/** One of the page's own files; undefined if it has none of this name. They contain no evidence, so anybody may have them. */
export async function readPageFile(name: string): Promise<PageFile | undefined> {
  const type = Object.hasOwn(types, name) ? types[name] : undefined;
  return type === undefined ? undefined : { type, content: await readBuilt(name) };
}

/** The texts of the page in the language that the browser prefers, as JSON. */
export async function readTexts(accepted: string | undefined): Promise<{ lang: Language; content: Buffer }> {
  const lang = chooseLanguage(accepted ?? "");
  return { lang, content: await readBuilt(join("texts", `${lang}.json`)) };
}

function readBuilt(name: string): Promise<Buffer> {
  return readFile(join(packageFolder(), "dist/src/evidence/page/client", name));
}

/** Chooses among the languages of an Accept-Language header, by their weights and then by their order. */
export function chooseLanguage(accepted: string): Language {
  const wanted = accepted
    .slice(0, 1_000)
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.split(";").map((one) => one.trim().toLowerCase());
      const weight = Number(parameters.find((one) => one.startsWith("q="))?.slice(2) ?? 1);
      return { tag, weight: Number.isFinite(weight) ? weight : 0 };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight);
  for (const { tag } of wanted) {
    const found = ofTag(tag);
    if (found !== undefined) {
      return found;
    }
  }
  return "en-US";
}

function ofTag(tag: string): Language | undefined {
  const [language = "", ...rest] = tag.split("-");
  if (language === "zh") {
    return rest.some((part) => ["tw", "hk", "mo", "hant"].includes(part)) ? "zh-TW" : "zh";
  }
  return languages.find((one) => one.split("-")[0] === language);
}
