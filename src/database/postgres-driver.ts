import type { Duplex } from "node:stream";
import type { Client, ClientConfig, DatabaseError } from "pg";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { type Phrase, beginning, phrase, textOfThrown, withoutSecret } from "../errors/interpolation.ts";
import type { LoginMethod, LoginMethods } from "./postgres-address.ts";

/** How much a server may send before it is ready for the first statement; a login has one or two kilobytes. */
const mostLoginBytes = 65_536;
/** How long a message may be that is no row, such as an error, which quotes a value of a statement. */
const mostMessageBytes = 1_000_000;
/** How long the names and types of a result's columns may be. Each row is an object with all of them. */
const mostColumnsBytes = 4_096;
/**
 * How much the answer to one statement may have. The largest row is a job whose measurement and exact answer have 16 million characters,
 * which is about 50 MB; a page of 20,000 packages has about 15 MB.
 */
const mostAnswerBytes = 64_000_000;
/** What a message costs beside its bytes, in memory and in time: a row without content has seven on the wire, and is an object here. */
const messageCostBytes = 512;
/** How long a server may take to end a connection that was ended here. */
const endWithinMs = 1_000;

const typeBytes = 1;
const lengthBytes = 4;
const headBytes = typeBytes + lengthBytes;
/** Of a message about the login: with the number of what it says. */
const loginHeadBytes = headBytes + 4;

/** The messages of PostgreSQL's protocol that a login has. */
const ofLogin: ReadonlySet<string> = new Set(["R", "S", "K", "E", "N", "Z"]);
/**
 * Those that follow the statements of a store. Others would have the driver send something by itself, again and again: what asks for a
 * login, for the content of a table, or whether more rows are wanted.
 */
const ofAnswer: ReadonlySet<string> = new Set(["1", "2", "A", "C", "D", "E", "I", "N", "S", "T", "Z", "n"]);
/** One of these says how a statement has ended, before the server is ready for the next one. */
const endings: ReadonlySet<string> = new Set(["C", "E", "I"]);

/** What the server wants with a message about the login; all others belong to one of these. */
const methodOfCode: ReadonlyMap<number, LoginMethod> = new Map([
  [3, "password"],
  [5, "md5"],
  [10, "scram-sha-256"],
]);
const loginDone = 0;

interface DriverOptions {
  /** The database as messages name it. */
  readonly name: string;
  /** How the server may have this client log in. */
  readonly methods: LoginMethods;
}

type Listener = (...given: unknown[]) => void;

/**
 * The client of the driver, for servers that nobody has vouched for. What a server sends is looked at before the driver collects it:
 * longer messages and answers than those of a store, messages that nothing has asked for, and a login that would show the password end
 * the connection with ERR_STORE. So does an answer that the driver cannot read: it throws that where nothing catches it, which would end
 * the process.
 */
export function guardedClient(DriverClient: typeof Client, options: DriverOptions): typeof Client {
  return class extends DriverClient {
    constructor(config?: string | ClientConfig) {
      super(config);
      const { connection } = this;
      // What goes through a socket in a folder does not leave this computer.
      const watch = new AnswerWatch(options, this.host.startsWith("/"));
      // The driver leaves it to the server to end a connection that has failed.
      const end = (): void => void connection.stream.destroy();
      connection.on("error", end);
      connection.on("errorMessage", (error: DatabaseError) => {
        shorten(error, this.password ?? "");
        if (!watch.isLoggedIn) {
          end();
        }
      });
      const attach: unknown = Reflect.get(connection, "attachListeners");
      if (typeof attach === "function") {
        const attachGuarded = (stream: Duplex): void => {
          Reflect.apply(attach, connection, [guarded(stream, watch)]);
        };
        Reflect.set(connection, "attachListeners", attachGuarded);
      }
    }
  };
}

/** What the driver listens to of a stream, also of that of TLS. */
function guarded(stream: Duplex, watch: AnswerWatch): { on(event: string, listener: Listener): void } {
  stream.once("finish", () => {
    const timer = setTimeout(() => stream.destroy(), endWithinMs);
    timer.unref();
    stream.once("close", () => clearTimeout(timer));
  });
  return {
    on(event, listener) {
      stream.on(event, (...given: unknown[]) => {
        try {
          if (Buffer.isBuffer(given[0])) {
            watch.look(given[0], stream);
          }
          listener(...given);
        } catch (error) {
          stream.destroy(error instanceof Error ? error : new Error(textOfThrown(error)));
        }
      });
    },
  };
}

/** Follows the messages of a connection by their types and lengths. */
class AnswerWatch {
  readonly #options: DriverOptions;
  readonly #isLocal: boolean;
  readonly #head = Buffer.alloc(loginHeadBytes);
  #headLength = 0;
  /** Bytes of the message that are still to come. */
  #left = 0;
  /** The bytes of the answer so far, with what its messages cost. */
  #taken = 0;
  /** What had been sent when the last answer ended: the next one begins with the next statement. */
  #sentAtEnd: number | undefined;
  #isLoggedIn = false;
  /** Whether it was said how the statement has ended. */
  #hasEnded = false;
  #method: LoginMethod = "none";

  constructor(options: DriverOptions, isLocal: boolean) {
    this.#options = options;
    this.#isLocal = isLocal;
  }

  /** Whether the server has been ready for a statement. */
  get isLoggedIn(): boolean {
    return this.#isLoggedIn;
  }

  /** Throws ERR_STORE if the driver must not have these bytes. */
  look(bytes: Buffer, stream: Duplex): void {
    const sent = "bytesWritten" in stream ? Number(stream.bytesWritten) : 0;
    if (this.#sentAtEnd !== undefined && sent > this.#sentAtEnd) {
      this.#sentAtEnd = undefined;
      this.#taken = 0;
    }
    for (let at = 0; at < bytes.length;) {
      const skipped = Math.min(this.#left, bytes.length - at);
      this.#left -= skipped;
      at += skipped;
      if (at < bytes.length) {
        at += this.#takeHead(bytes.subarray(at), stream, sent);
      }
    }
  }

  /** Returns how many bytes of the head of a message were there. */
  #takeHead(bytes: Buffer, stream: Duplex, sent: number): number {
    this.#head[this.#headLength] = bytes[0] ?? 0;
    const type = String.fromCharCode(this.#head[0] ?? 0);
    const needed = type === "R" ? loginHeadBytes : headBytes;
    const copied = Math.min(bytes.length, needed - this.#headLength);
    bytes.copy(this.#head, this.#headLength, 0, copied);
    this.#headLength += copied;
    if (this.#headLength === needed) {
      this.#headLength = 0;
      this.#begin(type, this.#head.readUInt32BE(typeBytes), needed);
      if (type === "R") {
        this.#checkLogin(this.#head.readInt32BE(headBytes), stream);
      }
      if (type === "Z") {
        this.#isLoggedIn = true;
        this.#hasEnded = false;
        this.#sentAtEnd = sent;
      }
    }
    return copied;
  }

  #begin(type: string, length: number, headLength: number): void {
    const expected = this.#isLoggedIn ? ofAnswer : ofLogin;
    const isEarly = type === "Z" && this.#isLoggedIn && !this.#hasEnded;
    if (!expected.has(type) || isEarly || typeBytes + length < headLength) {
      throw this.#fail("postgresProtocol", {});
    }
    this.#hasEnded ||= endings.has(type);
    const longest = type === "D" ? mostAnswerBytes : type === "T" ? mostColumnsBytes : mostMessageBytes;
    const most = this.#isLoggedIn ? mostAnswerBytes : mostLoginBytes;
    this.#taken += length + messageCostBytes;
    for (const [bytes, limit] of [
      [length, longest],
      [this.#taken, most],
    ] as const) {
      if (bytes > limit) {
        throw this.#fail("postgresLong", { limit: sizeOf(limit) });
      }
    }
    this.#left = typeBytes + length - headLength;
  }

  /** The first message of a login says how the password is to be sent; the last one, that nothing more is needed. */
  #checkLogin(code: number, stream: Duplex): void {
    const method = code === loginDone ? this.#method : methodOfCode.get(code);
    if (method === undefined) {
      return;
    }
    this.#method = method;
    const { given, has } = this.#options.methods;
    if (given !== "" && !has(method)) {
      throw this.#fail("postgresLoginMethod", { value: given, name: method });
    }
    const isReadable = method === "password" || method === "md5";
    // Of TLS: the certificate was verified, with the name in it.
    const isSafe = this.#isLocal || ("authorized" in stream && stream.authorized === true);
    if (given === "" && isReadable && !isSafe) {
      throw this.#fail("postgresPlainLogin", { name: method });
    }
  }

  #fail(
    sentence: "postgresLoginMethod" | "postgresLong" | "postgresPlainLogin" | "postgresProtocol",
    values: ConstructorParameters<typeof DimensionerError>[2],
  ): DimensionerError {
    const facts = { surface: "store", operation: "store" } as const;
    return new DimensionerError(sentence, facts, { path: this.#options.name, ...values });
  }
}

function sizeOf(bytes: number): Phrase {
  return bytes % 1e6 === 0 ? phrase("megabytes", { count: bytes / 1e6 }) : phrase("bytes", { count: bytes });
}

/** What an error says can be of any length, and repeat what was sent to the server. PostgreSQL's codes have five characters. */
function shorten(error: DatabaseError, password: string): void {
  error.message = beginning(withoutSecret(textOfThrown(error), password));
  if (!/^[\dA-Z]{5}$/.test(error.code ?? "")) {
    // internal_error
    error.code = "XX000";
  }
}
