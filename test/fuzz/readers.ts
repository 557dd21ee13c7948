import { Duplex } from "node:stream";
import { type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { Client as PgClient } from "pg";
import { loginMethodsOf } from "../../src/database/postgres-address.ts";
import { postgresError } from "../../src/database/postgres-connection.ts";
import { columnTypes, guardedClient } from "../../src/database/postgres-driver.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { ProblemError, inEnglish, phrase } from "../../src/errors/interpolation.ts";
import { hider } from "../../src/errors/secrets.ts";
import type { Call, Command, Peer, Read } from "../../src/http/call.ts";
import { CommandQueues } from "../../src/http/command-queue.ts";
import { startDownload } from "../../src/http/download.ts";
import { readMeasurement, readShape, refuseDocument } from "../../src/http/response.ts";
import { Transport, defaultQueueRules } from "../../src/http/transport.ts";
import { ContentCheck, createFormatEnd, watchForDocument } from "../../src/media/formats.ts";
import { nameOfDocument, wordsOf } from "../../src/model/documents.ts";
import { listLimits } from "../../src/model/parse-json.ts";
import { decodeDevices, decodeMediaList, decodeTerminals } from "../../src/model/transaction-record.ts";
import { readScans } from "../../src/scan/read-scans.ts";
import { Bucket } from "../../src/vault/s3/bucket.ts";
import { readS3Url } from "../../src/vault/s3/bucket-address.ts";
import { BucketRefusal, childText, childrenOf, readXml } from "../../src/vault/s3/requests.ts";
import { sourceOf } from "../../src/vault/s3/store-object.ts";
import { readRequest } from "../../src/vault/timestamp/token.ts";
import {
  verifyTimestamp,
  checkSigner,
  findRoot,
  keyOf,
  nameOf,
  readCertificate,
} from "../../src/vault/timestamp/verify.ts";
import { readPosted } from "../../src/webhook/posted-record.ts";
import { forTests } from "../support/s3-servers.ts";
import { startServer } from "../support/servers.ts";
import { certificates, fixture } from "../vault/timestamp/fixtures.ts";
import { type Reader, refused } from "./reader.ts";

const token = "secret-token-4711";
/** No sentence is longer: nobody reads more, and a log would be filled. */
const longestSentence = 2_000;

/** What an error says; throws one that is none of this package's. */
function saidBy(error: unknown): string {
  if (!isDimensionerError(error)) {
    throw error instanceof Error ? error : new Error(String(error));
  }
  if (
    error.message.length > longestSentence ||
    /[\p{Cc}\p{Zl}\p{Zp}]/u.test(error.message) ||
    error.message.includes(token)
  ) {
    throw new Error(`says what no error may say: ${JSON.stringify(error.message.slice(0, 500))}`);
  }
  return `${refused}${error.code} ${error.message}`;
}

async function outcomeOf(work: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await work()) ?? "";
  } catch (error) {
    return saidBy(error);
  }
}

function problemIn(work: () => unknown): string {
  try {
    const made = work();
    return typeof made === "string" ? made : (JSON.stringify(made) ?? "");
  } catch (error) {
    if (error instanceof ProblemError) {
      return `${refused}${inEnglish(error.problem)}`;
    }
    throw error;
  }
}

const peer: Peer = {
  surface: "cloud",
  origin: "http://cloud.example",
  host: "cloud.example",
  hide: hider([token]),
};
const measure: Command = { acts: true, operation: "measure", method: "GET", path: "/measure", query: "" };
const list: Read = { acts: false, operation: "media list", method: "GET", path: "/list", query: "" };

const jsonWords = [
  ...'{}[],:"\\',
  "\\u0000",
  "\\ud800",
  "null",
  "true",
  "1e999",
  "-0",
  '"__proto__":',
  '"constructor":',
  '"errorCode":0,',
  '"measuredObjects":[',
  "\ufeff",
  "<html>",
  "<?xml",
  token,
  Buffer.from(token).toString("base64"),
];

/** JSON of a device and of the cloud, in the body of an answer or of a post. */
async function json(): Promise<Reader> {
  const shapes: readonly (readonly [Call, (value: unknown) => unknown])[] = [
    [list, decodeMediaList],
    [list, decodeDevices],
    [list, decodeTerminals],
  ];
  return {
    words: jsonWords,
    mostBytes: 200_000,
    bytesPerByte: 800,
    isSame: "never",
    async read(pieces) {
      const body = Buffer.concat(pieces);
      const response = { body, charset: undefined, coding: undefined, answer: "" };
      const posted = readPosted(body, { "content-type": "application/json" });
      return [
        ...(await Promise.all([
          outcomeOf(() => readMeasurement(peer, measure, response, "newer-device")),
          outcomeOf(() => readMeasurement(peer, measure, response, "cloud")),
          outcomeOf(() => refuseDocument(peer, measure, response)),
          ...shapes.map(([call, decode]) =>
            outcomeOf(() => readShape(peer, call, response, listLimits, decode).value),
          ),
        ])),
        "problem" in posted ? inEnglish(posted.problem) : posted.ids.join(),
      ].join("\n");
    },
  };
}

const httpWords = [
  "HTTP/1.1 200 OK\r\n",
  "HTTP/1.1 102 Processing\r\n\r\n",
  "HTTP/1.0 204 No Content\r\n",
  "content-length: 5\r\n",
  "content-length: -1\r\n",
  "transfer-encoding: chunked\r\n",
  "content-encoding: gzip\r\n",
  "content-encoding: br\r\n",
  "content-range: bytes 0-3/4\r\n",
  "content-type: text/html; charset=utf-16\r\n",
  'etag: "1"\r\n',
  "location: http://127.0.0.1:9/\r\n",
  "retry-after: 99999999999999999999\r\n",
  "date: Thu, 99 Foo 2026\r\n",
  "connection: keep-alive\r\n",
  "\r\n",
  "\r\n\r\n",
  "0\r\n\r\n",
  "ffffffff\r\n",
  ": ",
];

/** A server whose every answer is the input, in its pieces; then it ends the connection. */
async function answering() {
  let answer: readonly Buffer[] = [];
  let onClosed = (): void => undefined;
  const server = await startServer(async (_request, socket) => {
    socket.once("close", onClosed);
    await send(socket, answer);
  });
  return {
    server,
    give(pieces: readonly Buffer[], closed: () => void = () => undefined): void {
      [answer, onClosed] = [pieces, closed];
    },
  };
}

/** Calls a function when what has arrived was read. */
async function later(act: () => void): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) {
    await turn();
  }
  act();
}

async function send(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) {
      return;
    }
    socket.write(piece);
    if (pieces.length > 1) {
      await turn();
    }
  }
  socket.end();
}

/** The answer to a command of a device. */
async function httpAnswer(): Promise<Reader> {
  const { server, give } = await answering();
  const own = { ...peer, origin: server.origin, host: "127.0.0.1" };
  const transport = new Transport({
    ...defaultQueueRules,
    peer: own,
    timeoutMs: 20_000,
    queues: new CommandQueues(),
  });
  return {
    words: [...httpWords, ...jsonWords],
    mostBytes: 100_000,
    bytesPerByte: 800,
    isSame: "whole",
    read(pieces) {
      give(pieces);
      return outcomeOf(async () => {
        const response = await transport.sendCommand(measure, { deviceKey: server.origin });
        return readMeasurement(own, measure, response, "newer-device").rawResponse;
      });
    },
    async close() {
      await transport.close();
      await server.close();
    },
  };
}

/** A download: its first answer, and the one that continues it. */
async function httpDownload(): Promise<Reader> {
  const { server, give } = await answering();
  const own = { ...peer, origin: server.origin, host: "127.0.0.1" };
  const transport = new Transport({
    ...defaultQueueRules,
    peer: own,
    timeoutMs: 20_000,
    queues: new CommandQueues(),
  });
  return {
    words: httpWords,
    mostBytes: 100_000,
    bytesPerByte: 200,
    isSame: "whole",
    read(pieces) {
      const end = new AbortController();
      // What has not ended with the connection waits for another try, which would be the same again.
      give(pieces, () => void later(() => end.abort()));
      return outcomeOf(async () => {
        const { body, contentType, contentLength } = await startDownload(transport, list, "medium", {
          signal: end.signal,
        });
        return [(await buffer(body)).toString("latin1"), contentType, contentLength];
      });
    },
    async close() {
      await transport.close();
      await server.close();
    },
  };
}

const xmlWords = [
  ..."<>/&;",
  "<!--",
  "-->",
  "<![CDATA[",
  "]]>",
  "<?xml",
  "<!DOCTYPE a [<!ENTITY b 'c'>]>",
  "&b;",
  "&#x10ffff;",
  "&#x110000;",
  "&#0;",
  "<Error>",
  "<Contents>",
  "<Key>%zz</Key>",
  "<IsTruncated>true</IsTruncated>",
  "<NextContinuationToken>t</NextContinuationToken>",
  "<CompleteMultipartUploadResult/>",
];

/** The XML of an object store, also that of its refusals. */
async function xml(): Promise<Reader> {
  return {
    words: xmlWords,
    mostBytes: 200_000,
    bytesPerByte: 600,
    isSame: "never",
    read(pieces) {
      const text = Buffer.concat(pieces).toString();
      const root = readXml(text);
      const refusal = new BucketRefusal(400, {}, text);
      const names = root === undefined ? "none" : `${root.name} ${root.children.length}`;
      return [
        names,
        childText(root, "Code"),
        childrenOf(root, "Contents").length,
        refusal.code,
        refusal.region,
      ].join(" ");
    },
  };
}

/** Whole answers of an object store, to a list, a read and an upload in parts. */
async function bucketAnswer(): Promise<Reader> {
  const { server, give } = await answering();
  const open = () =>
    Bucket.open(readS3Url(`s3://evidence?endpoint=${server.origin}`), {
      ...forTests,
      answerMs: 20_000,
      tries: 1,
    });
  return {
    words: [...httpWords, ...xmlWords],
    mostBytes: 50_000,
    bytesPerByte: 5_000,
    isSame: "never",
    async read(pieces) {
      give(pieces);
      const bucket = await open();
      try {
        const keys = async () => {
          const found: string[] = [];
          for await (const page of bucket.list("")) {
            found.push(...page.map(({ key }) => key));
          }
          return found;
        };
        const work = [
          keys,
          async () => {
            const opened = await bucket.read("key");
            return opened === undefined ? null : (await buffer(opened.body).catch(() => "broken")).length;
          },
          () => bucket.store("key", sourceOf("content"), { inParts: true }),
          () => bucket.endUploads("", Date.now()),
        ];
        const outcomes: string[] = [];
        for (const one of work) {
          outcomes.push(await outcomeOf(one));
        }
        return outcomes.join("\n");
      } finally {
        await bucket.close();
      }
    },
    close: () => server.close(),
  };
}

const formats = ["bmp", "jpeg", "mp4", "png", "webp"] as const;

/** Pictures and films while they arrive: their type, their end, and documents in their place. */
async function media(): Promise<Reader> {
  const source = {
    surface: "cloud",
    operation: "media",
    host: "cloud.example",
    url: "http://cloud.example/",
  } as const;
  return {
    words: [
      "\xff\xd8\xff",
      "\xff\xd9",
      "\xff\xda\0\x02",
      "\xff\x00",
      "\xff\xe0\0\x02",
      "\x89PNG\r\n\x1a\n",
      "\0\0\0\x0cIEND",
      "BM",
      "RIFF",
      "WEBP",
      "\0\0\0\x08moov",
      "\0\0\0\x08mdat",
      "\0\0\0\x08moof",
      "\0\0\0\x01mdat\0\0\0\0\0\0\0\x10",
      "<html>",
      "<?xml",
      "{",
      "\ufeff",
      "GIF89a",
    ],
    mostBytes: 400_000,
    bytesPerByte: 100,
    isSame: "always",
    async read(pieces) {
      const ends = formats.map((format) => {
        const end = createFormatEnd(format);
        pieces.forEach((piece) => end.update(piece));
        const problem = end.problem();
        return problem === null ? "whole" : inEnglish(problem);
      });
      const check = new ContentCheck(true);
      pieces.forEach((piece) => check.update(piece));
      const watch = watchForDocument();
      // Nobody reads on when it is known to be a document.
      pieces.every((piece) => watch.update(piece));
      const document = watch.document();
      const found =
        document && `${inEnglish(phrase(nameOfDocument(document)))}: ${inEnglish(wordsOf(document))}`;
      return [
        ...ends,
        check.found(),
        await outcomeOf(() => check.verdict(null, source)),
        await outcomeOf(() => check.refuseUnfinished(source)),
        found,
      ].join("\n");
    },
  };
}

const derWords = [
  "\x30\x80",
  "\x30\x84\xff\xff\xff\xff",
  "\x02\x01\0",
  "\x06\x03\x55\x1d\x25",
  "\x06\x82\xff\xff",
  "\x18\x0f20261128073559Z",
  "\x03\x02\x07\x80",
  "\x04\0",
  "\xa0\x80",
  "\0\0",
  "\x1f\x81\x80\x80\0",
];

/** The response of a time stamp server. */
async function der(): Promise<Reader> {
  const request = readRequest(fixture("request.tsq"));
  const roots = certificates("root");
  return {
    words: derWords,
    mostBytes: 260_000,
    bytesPerByte: 1_500,
    isSame: "never",
    read: (pieces) =>
      problemIn(() => {
        const { at, signer, root } = verifyTimestamp(Buffer.concat(pieces), request, roots);
        return [at, signer, root];
      }),
  };
}

/** A certificate that a time stamp brings: what signs it need not be true. */
async function certificate(): Promise<Reader> {
  const roots = certificates("root");
  const others = ["middle", "rsa", "ecdsa", "ring-root"].flatMap(certificates);
  const at = new Date("2026-11-22T09:00:00Z");
  return {
    words: derWords,
    mostBytes: 100_000,
    bytesPerByte: 1_500,
    isSame: "never",
    read(pieces) {
      const bytes = Buffer.concat(pieces);
      const given = (): ReturnType<typeof readCertificate> => readCertificate(bytes);
      return [
        problemIn(() => nameOf(given())),
        problemIn(() => keyOf(given()).asymmetricKeyType ?? ""),
        problemIn(() => {
          checkSigner(given(), at);
          return "signs";
        }),
        problemIn(() => nameOf(findRoot(given(), [given(), ...others], roots, at))),
        problemIn(() => {
          const [first] = others;
          return first === undefined ? "" : nameOf(findRoot(first, [given(), ...others], [given()], at));
        }),
      ].join("\n");
    },
  };
}

/** A connection to a server that is the test. */
class Wire extends Duplex {
  /** Called with what the driver sends. */
  onSent = (): void => undefined;

  connect(): this {
    process.nextTick(() => this.emit("connect"));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  bytesWritten = 0;

  override _read(): void {
    // What arrives is pushed.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.bytesWritten += chunk.length;
    done();
    this.onSent();
  }
}

/** Message types of PostgreSQL, each with a length. */
const postgresWords = [
  "R\0\0\0\x08\0\0\0\0",
  "R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0",
  "R\0\0\0\x0c\0\0\0\x05salt",
  "S\0\0\0\x0bname\0v\0",
  "K\0\0\0\x0c\0\0\0\x01\0\0\0\x02",
  "Z\0\0\0\x05I",
  "E\0\0\0\x19SFATAL\0C28P01\0Mno\0\0",
  "T\0\0\0\x06\0\0",
  "D\0\0\0\x06\0\0",
  "D\0\0\0\x0a\0\x01\xff\xff\xff\xff",
  "C\0\0\0\x09SHOW\0",
  "1\0\0\0\x04",
  "2\0\0\0\x04",
  "n\0\0\0\x04",
  "N\0\0\0\x05\0",
  "A\0\0\0\x0c\0\0\0\x01c\0p\0",
  "W\0\0\0\x07\0\0\0",
];
const address = {
  url: "postgres://postgres@127.0.0.1/stub",
  password: "secret-4711",
  name: "postgres://127.0.0.1/stub",
};
/** Logged in, and ready for a statement. */
const loggedIn = Buffer.from("R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I", "latin1");

/** Connects the driver as a store does, and says how that or its first statement has ended. */
async function readPostgres(
  login: readonly Buffer[],
  answer: readonly Buffer[] | undefined,
): Promise<string> {
  const wire = new Wire();
  const Client = guardedClient(PgClient, { name: address.name, methods: loginMethodsOf(address, {}) });
  const client = new Client({
    stream: wire,
    types: columnTypes(address.name),
    user: "postgres",
    database: "stub",
    password: address.password,
    host: "127.0.0.1",
  } as never);
  client.on("error", () => undefined);
  const push = (pieces: readonly Buffer[]): void => {
    pieces.forEach((piece) => wire.destroyed || wire.push(piece));
    if (!wire.destroyed) {
      wire.push(null);
    }
  };
  let hasLoggedIn = false;
  wire.onSent = () => {
    if (!hasLoggedIn) {
      hasLoggedIn = true;
      setImmediate(() => (answer === undefined ? push(login) : wire.push(Buffer.concat(login))));
    }
  };
  // The pool does so when a connection is lost.
  wire.once("end", () => wire.destroy());
  try {
    return await outcomeOf(async () => {
      try {
        await client.connect();
        if (answer === undefined) {
          return "connected";
        }
        let isAsked = false;
        wire.onSent = () => {
          if (!isAsked) {
            isAsked = true;
            setImmediate(() => push(answer));
          }
        };
        const { rows } = await client.query("SELECT $1::text AS one", ["x"]);
        return rows;
      } catch (error) {
        throw isDimensionerError(error) ? error : postgresError(address, error);
      }
    });
  } finally {
    wire.destroy();
    await client.end().catch(() => undefined);
  }
}

async function postgresLogin(): Promise<Reader> {
  return {
    words: postgresWords,
    mostBytes: 100_000,
    bytesPerByte: 800,
    isSame: "never",
    read: (pieces) => readPostgres(pieces, undefined),
  };
}

async function postgresAnswer(): Promise<Reader> {
  return {
    words: postgresWords,
    mostBytes: 200_000,
    bytesPerByte: 800,
    isSame: "whole",
    read: (pieces) => readPostgres([loggedIn], pieces),
  };
}

/** What a scanner sends: codes of GS1, links, and the messages of 2D labels. */
async function scans(): Promise<Reader> {
  const today = new Date("2026-11-22T09:00:00Z");
  return {
    words: [
      "]C1",
      "]d2",
      "]Q3",
      "]E0",
      "]e0",
      "]U1",
      "[)>\x1e01\x1d96",
      "[)>\x1e06\x1d",
      "\x1d",
      "\x1e",
      "\x04",
      "(01)",
      "https://id.gs1.org/01/",
      "%",
      "?",
      "&",
      "\r",
      "|]e0",
      "01",
      "10",
      "00",
      "420",
      "\ufeff",
    ],
    mostBytes: 70_000,
    // Two bytes are a code, each is an object of twenty fields, read in three ways here and written down as JSON.
    bytesPerByte: 6_000,
    isSame: "never",
    async read(pieces) {
      const bytes = Buffer.concat(pieces);
      const outcomes = [{}, { addressee: true }, { separator: "<F1>" }].map((options) =>
        outcomeOf(() => readScans(bytes, { today, ...options })),
      );
      return (await Promise.all(outcomes)).join("\n");
    },
  };
}

/** All readers of bytes from outside, by their corpora. */
export const readers: Readonly<Record<string, () => Promise<Reader>>> = {
  json,
  "http-answer": httpAnswer,
  "http-download": httpDownload,
  xml,
  "bucket-answer": bucketAnswer,
  media,
  der,
  certificate,
  "postgres-login": postgresLogin,
  "postgres-answer": postgresAnswer,
  scans,
};
