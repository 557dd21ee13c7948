import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import * as v from "valibot";
import type { Language } from "../../rules/languages.ts";
import type { IndexedPackage } from "../../vault/packages/package-index.ts";
import type { ExportHead } from "../export/export-packages.ts";
import { demandListed, leaveOutPruned } from "../packages.ts";
import { withNext } from "../report/exported-package.ts";
import { runInThread } from "../run-in-thread.ts";
import { Refusal, headersOf } from "./answers.ts";
import type { PageSource } from "./package-requests.ts";
import type { Turns } from "./turns.ts";

/** An export that somebody has asked for, and not downloaded yet. */
interface AskedExport {
  readonly person: string;
  readonly packages: readonly IndexedPackage[];
  readonly language: Language;
  readonly askedAt: number;
}

const mostPackages = 100;
/** A browser begins a download at once. */
const keptMs = 60_000;
const mostKept = 20;
const mostRunning = 4;
/** A browser that takes nothing for so long does not come back. */
const stalledMs = 60_000;

export const exportBody = v.strictObject({
  packages: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(mostPackages)),
});

/**
 * The exports of an evidence page. A download is a request that reads, which any site can cause; so a post has to ask
 * for it first, and returns an ID that is good for one download by the same person.
 */
export class Exports {
  readonly #asked = new Map<string, AskedExport>();
  readonly #turns: Turns;
  #running = 0;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Looks the packages up. Returns the ID of the export. Throws a Refusal, ERR_NOT_FOUND and ERR_STORE. */
  async ask(
    source: PageSource,
    ids: readonly string[],
    about: Pick<AskedExport, "person" | "language">,
  ): Promise<string> {
    this.#forgetOld();
    this.#refuseIfBusy();
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
    { packages, language }: AskedExport,
    source: PageSource,
    signal: AbortSignal,
  ): Promise<void> {
    const there = await leaveOutPruned(source.files, packages);
    if (there.length === 0) {
      throw new Refusal(404, "notFound");
    }
    const chained = await withNext(source.database, there);
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
      const { filesLocation: files, timestampRoots: roots } = source;
      const task = { action: "stream", files, packages: chained, language, roots } as const;
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
