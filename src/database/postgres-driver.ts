import type { Duplex } from "node:stream";
import type { Client, ClientConfig, CustomTypesConfig, DatabaseError } from "pg";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { type Phrase, beginning, phrase, textOfThrown } from "../errors/interpolation.ts";
import { hider, shortestPassword } from "../errors/secrets.ts";
import type { LoginMethod, LoginMethods } from "./postgres-address.ts";

/** How much a server may send before it is ready for the first statement; a login has one or two kilobytes. */
const mostLoginBytes = 65_536;
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
  #body: BodyWatch | undefined;
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
      this.#body?.take(bytes.subarray(at, at + skipped));
      this.#left -= skipped;
      at += skipped;
      if (this.#left === 0) {
        this.#endMessage();
      }
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
    const most = this.#isLoggedIn ? mostAnswerBytes : mostLoginBytes;
    this.#taken += length + messageCostBytes;
    if (this.#taken > most || (type === "T" && length > mostColumnsBytes)) {
      throw this.#fail("postgresLong", { limit: sizeOf(this.#taken > most ? most : mostColumnsBytes) });
    }
    this.#left = typeBytes + length - headLength;
    const form = type === "R" ? loginForms.get(this.#head.readInt32BE(headBytes)) : forms.get(type);
    this.#body = form === undefined ? undefined : new BodyWatch(form());
    if (this.#left === 0) {
      this.#endMessage();
    }
  }

  #endMessage(): void {
    if (this.#body?.isWhole === false) {
      throw this.#fail("postgresProtocol", {});
    }
    this.#body = undefined;
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

/** What a message has next: bytes of which a number consists, other bytes, or a text with the zero at its end. */
type MessageField = { readonly number: 1 | 2 | 4 } | { readonly bytes: number } | "text";

/** The parts of a message, of which each number is given back. Returns false where they cannot be right. */
type Form = () => Generator<MessageField, boolean, number>;

/** Texts, of which an empty one is the last. */
const texts: Form = function* () {
  while ((yield { number: 1 }) !== 0) {
    yield "text";
  }
  return true;
};

const columns: Form = function* () {
  for (let left = yield { number: 2 }; left > 0; left -= 1) {
    yield "text";
    yield { bytes: 18 };
  }
  return true;
};

const row: Form = function* () {
  const count = yield { number: 2 };
  // The driver reads a larger one as a negative number.
  if (count > 0x7fff) {
    return false;
  }
  for (let left = count; left > 0; left -= 1) {
    const length = yield { number: 4 };
    if (length < -1) {
      return false;
    }
    yield { bytes: Math.max(0, length) };
  }
  return true;
};

function inOrder(...parts: readonly MessageField[]): Form {
  return function* () {
    for (const part of parts) {
      yield part;
    }
    return true;
  };
}

/**
 * What messages consist of, by their types. The driver reads on behind a message that ends too early, in what came before or after it, and
 * for the end of an error it looks for ever.
 */
const forms: ReadonlyMap<string, Form> = new Map([
  ["A", inOrder({ bytes: 4 }, "text", "text")],
  ["C", inOrder("text")],
  ["D", row],
  ["E", texts],
  ["K", inOrder({ bytes: 8 })],
  ["N", texts],
  ["S", inOrder("text", "text")],
  ["T", columns],
  ["Z", inOrder({ bytes: 1 })],
]);
/** The same of a message about the login, by the number of what it says. */
const loginForms: ReadonlyMap<number, Form> = new Map([
  [5, inOrder({ bytes: 4 })],
  [10, texts],
]);

/** Follows the body of a message as far as it has come. */
class BodyWatch {
  readonly #parts: ReturnType<Form>;
  #next: MessageField | undefined;
  /** The bytes of a part that are still to come. */
  #due = 0;
  #number = 0;
  isWhole = false;

  constructor(parts: ReturnType<Form>) {
    this.#parts = parts;
    this.#goOn();
  }

  take(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && this.#next !== undefined;) {
      if (this.#next === "text") {
        const end = bytes.indexOf(0, at);
        if (end < 0) {
          return;
        }
        at = end + 1;
      } else {
        const count = Math.min(this.#due, bytes.length - at);
        if ("number" in this.#next) {
          for (const byte of bytes.subarray(at, at + count)) {
            this.#number = (this.#number << 8) | byte;
          }
        }
        at += count;
        this.#due -= count;
      }
      if (this.#due === 0) {
        this.#goOn();
      }
    }
  }

  #goOn(): void {
    do {
      const { done, value } = this.#parts.next(this.#number);
      this.#number = 0;
      if (done === true) {
        this.isWhole = value;
        this.#next = undefined;
        return;
      }
      this.#next = value;
      this.#due = value === "text" ? 0 : "number" in value ? value.number : value.bytes;
    } while (this.#next !== "text" && this.#due === 0);
  }
}

/** PostgreSQL's numbers of the types that a store has as numbers. Its integers are all below 2^53. */
const numberTypes: ReadonlySet<number> = new Set([
  20, // int8
  21, // int2
  23, // int4
  26, // oid
  700, // float4
  701, // float8
]);
const booleanType = 16;

/**
 * How the driver reads values: by the types of a store only, since a server can name any, and the driver knows many that take long or make
 * something of a text that no table of a store has. Throws ERR_STORE for a number that is none.
 */
export function columnTypes(name: string): CustomTypesConfig {
  const numberIn = (text: string): number => {
    const value = Number(text);
    if (text === "" || !Number.isFinite(value)) {
      throw new DimensionerError(
        "postgresProtocol",
        { surface: "store", operation: "store" },
        { path: name },
      );
    }
    return value;
  };
  return {
    getTypeParser: (type: number) =>
      numberTypes.has(type)
        ? numberIn
        : type === booleanType
          ? (text: string) => (text === "t" ? 1 : 0)
          : (text: string) => text,
  };
}

function sizeOf(bytes: number): Phrase {
  return bytes % 1e6 === 0 ? phrase("megabytes", { count: bytes / 1e6 }) : phrase("bytes", { count: bytes });
}

/** What an error says can be of any length, and repeat what was sent to the server. PostgreSQL's codes have five characters. */
function shorten(error: DatabaseError, password: string): void {
  const text = textOfThrown(error);
  error.message = beginning(hider([password], shortestPassword)?.(text) ?? text);
  if (!/^[\dA-Z]{5}$/.test(error.code ?? "")) {
    // internal_error
    error.code = "XX000";
  }
}
