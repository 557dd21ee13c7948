import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { field, inEnglish, phrase, problemOf, verbatim } from "../../errors/interpolation.ts";
import { hider } from "../../errors/secrets.ts";
import type { Read } from "../../http/call.ts";
import { CommandQueues } from "../../http/command-queue.ts";
import type { TlsOptions } from "../../http/connections.ts";
import { callFailure } from "../../http/failures.ts";
import { Transport, defaultQueueRules, readResponse } from "../../http/transport.ts";
import { readTimestampServer } from "../../rules/addresses.ts";

/** A server that signs time stamps (RFC 3161), and how it is reached. */
export interface TimestampServerOptions {
  /** http or https, with the path of the service. A time stamp is signed, so http is safe unless a password is sent. */
  readonly server: string;
  /** Both are sent to the server's origin only, if either is given. */
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Deadline of one request, with its repetitions; 30 s. */
  readonly timeoutMs?: number | undefined;
  readonly tls?: TlsOptions | undefined;
  /** May contain a user name and a password. The environment's proxy variables are not used. */
  readonly proxyUrl?: string | undefined;
}

/** A time stamp has some thousand bytes, most of them certificates. */
const mostBytes = 256 * 1024;

/** The client of a time stamp server. Throws ERR_CONFIG if its options are not valid. */
export class TimestampServer {
  /** The address, without credentials. */
  readonly url: string;
  readonly #transport: Transport;
  readonly #path: string;

  constructor({ user = "", password = "", timeoutMs = 30_000, ...options }: TimestampServerOptions) {
    const facts = { surface: "config", operation: "timestamp" } as const;
    if (options.server.trim() === "") {
      throw new DimensionerError("timestampServer", facts);
    }
    const hasLogin = user !== "" || password !== "";
    const address = readTimestampServer(options.server, hasLogin);
    if ("problem" in address) {
      const values = { what: phrase("node"), field: field("server"), ...address };
      throw new DimensionerError("configInvalid", facts, values);
    }
    const login = Buffer.from(`${user}:${password}`).toString("base64");
    this.url = address.href;
    this.#path = address.pathname;
    this.#transport = new Transport({
      ...defaultQueueRules,
      peer: {
        surface: "timestamp-server",
        origin: address.origin,
        host: address.host,
        hide: hider([login, password]),
      },
      timeoutMs,
      queues: new CommandQueues(),
      headers: {
        "content-type": "application/timestamp-query",
        ...(hasLogin ? { authorization: `Basic ${login}` } : {}),
      },
      tls: options.tls,
      proxyUrl: options.proxyUrl,
    });
  }

  /**
   * Sends a request and returns what `verify` makes of its response. Rejects with the error of the connection or the status, and with
   * ERR_BAD_RESPONSE if `verify` throws a ProblemError.
   */
  async request<T>(
    body: Buffer,
    verify: (response: Buffer) => T,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly response: Buffer; readonly verified: T }> {
    const call: Read = {
      acts: false,
      operation: "timestamp",
      method: "POST",
      path: this.#path,
      query: "",
      statuses: {
        401: "timestampLogin",
        403: "timestampLogin",
        404: "timestampNoService",
        405: "timestampNoService",
      },
      body,
    };
    const { peer } = this.#transport;
    const { body: response } = await readResponse(this.#transport, call, { signal });
    if (response.length > mostBytes) {
      const limit = phrase("bytes", { count: mostBytes });
      throw callFailure(peer, call, "tooLarge", null, { limit });
    }
    try {
      return { response, verified: verify(response) };
    } catch (cause) {
      const problem = problemOf(cause);
      const words = inEnglish(problem);
      const shown = peer.hide?.(words) ?? words;
      throw shown === words
        ? callFailure(peer, call, "timestampWrong", null, { problem }, { cause })
        : callFailure(peer, call, "timestampWrong", null, { problem: verbatim(shown) });
    }
  }

  /** Aborts what runs with ERR_CANCELLED, and closes every connection. */
  close(): Promise<void> {
    return this.#transport.close();
  }
}
