import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { type Socket, connect } from "node:net";
import {
  columns,
  head,
  message,
  type PostgresStub,
  ready,
  row,
  serveEndless,
} from "../support/postgres-stub.ts";
import { type RawRequest, startServer } from "../support/servers.ts";
import { fixture } from "../vault/timestamp/fixtures.ts";
import { jpeg } from "../media/samples.ts";
import { type Operation, type Told, databaseMs, patientMs, timeoutMs } from "./peers.ts";

/** What one turn of the event loop may take of the processor. Without limits it is many seconds. */
const mostHeldMs = 1_000;
/** What a process may grow by beside the bytes of an answer: garbage that is not collected yet. */
const baseBytes = 64_000_000;
/** What a byte of an answer may take: as it came, as a text, and as values. */
const bytesPerByte = 3;
/** What the systems of both sides keep of a connection that nobody reads from. */
const socketBytes = 12_000_000;
/** What tries and a busy computer may take beside a time limit. */
const slackSeconds = 15;
/** What starting a process may take beside that. */
const startSeconds = 30;

/** How many bytes are taken before a limit has its effect, how often, or how long that takes. */
interface Most {
  readonly bytes?: number;
  readonly tries?: number;
  readonly ms?: number;
}

/** The limits that are tried, by their names in SECURITY.md. Each was lifted once, and all of its rows have failed then. */
const limits = {
  "Content-Range": { tries: 3 },
  bodyWithinMs: { ms: 10_000 },
  bytesPerRequest: { bytes: 30_000_000 },
  defaultAnswerMs: { ms: databaseMs },
  defaultConnectMs: { ms: databaseMs },
  defaultLimitBytes: { bytes: 268_435_456 },
  endings: {},
  forms: { bytes: 64_000_000 },
  jsonLimitBytes: { bytes: 5_242_880 },
  largestManifestBytes: {},
  leastBytesPerSecond: { ms: timeoutMs },
  leastProgressBytes: { tries: 5 },
  listLimits: { bytes: 5_242_880 },
  longestBodyBytes: { bytes: 33_000_000 },
  longestRefusedBytes: { bytes: 32_000_000 },
  maxHeaderSize: { bytes: 16_384 },
  messageCostBytes: { bytes: 64_000_000 },
  mostAnswerBytes: { bytes: 64_000_000 },
  mostBytes: { bytes: 262_144 },
  mostColumnsBytes: { bytes: 4_096 },
  mostElements: { bytes: 8_388_608 },
  mostEmptyPages: {},
  mostIdentifierBytes: { bytes: 262_144 },
  mostLoginBytes: { bytes: 65_536 },
  mostProvisional: { bytes: 65_536 },
  mostRefusedBytes: { bytes: 32_000_000 },
  mostTries: { tries: 5 },
  mostWaiting: { bytes: 100_000_000, ms: 60_000 },
  mostXmlBytes: { bytes: 8_388_608 },
  numberTypes: { bytes: 1_000_000 },
  ofAnswer: {},
  ofLogin: {},
  recordLimits: { bytes: 5_242_880 },
  timeout: { ms: timeoutMs },
  untried: { bytes: 262_144 },
  wholeAnswerMs: { ms: timeoutMs },
} as const satisfies Record<string, Most>;

/** A hostile peer: where it is, and how many bytes were taken from it. */
interface Peer {
  readonly url: string;
  readonly takenBytes: () => number;
  readonly close: () => unknown;
}

interface HostileRow {
  readonly operation: Operation;
  readonly peer: string;
  readonly start: () => Promise<Peer>;
  /** What ends it. */
  readonly limit: keyof typeof limits;
  /** What the process says at the end. */
  readonly says: string;
  /** What is sent to a process that waits for it, which listens. */
  readonly attack?: (port: number) => Promise<Attacked>;
}

interface Attacked {
  /** What was answered; undefined if the process says itself how that ended. */
  readonly said?: string;
  readonly takenBytes: number;
}

interface Sends {
  write(bytes: Buffer | string): void;
  /** Writes again and again, as fast as it is taken. */
  flood(bytes: Buffer): void;
  /** Writes this each half second. */
  drip(text: string): void;
  end(bytes?: Buffer | string): void;
  readonly socket: Socket;
}

/** Starts a server that answers each request in a way of its own. */
async function http(answer: (sends: Sends, request: RawRequest) => void): Promise<Peer> {
  let closedBytes = 0;
  const server = await startServer((request, socket) => answer(sendsTo(socket), request), {
    onConnection: (socket) =>
      socket.once("close", () => (closedBytes += socket.bytesWritten - socket.writableLength)),
  });
  return {
    url: server.origin,
    takenBytes: () =>
      [...server.sockets].reduce((sum, one) => sum + one.bytesWritten - one.writableLength, closedBytes),
    close: () => server.close(),
  };
}

function sendsTo(socket: Socket): Sends {
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    flood(bytes) {
      const go = (): void => {
        if (!socket.destroyed) {
          // In another turn: otherwise nothing else happens here while the other side takes all at once.
          socket.write(bytes, () => setImmediate(go));
        }
      };
      go();
    },
    drip(text) {
      const timer = setInterval(() => socket.write(text), 500);
      socket.once("close", () => clearInterval(timer));
    },
    end: (bytes) => void socket.end(bytes ?? ""),
  };
}

async function postgres(
  starting: Promise<PostgresStub & { readonly sentBytes?: () => number }>,
): Promise<Peer> {
  const { url, close, sentBytes = () => 0 } = await starting;
  return { url, close, takenBytes: sentBytes };
}

const nobody = async (): Promise<Peer> => ({ url: "", takenBytes: () => 0, close: () => undefined });

const megabyte = Buffer.alloc(1_000_000, "x");
const bigHead = "HTTP/1.1 200 OK\r\ncontent-length: 100000000000\r\n\r\n";
/** More values than a measurement, a record or a list may have. */
const manyValues = `[${"[],".repeat(1_500_000)}[]]`;
/** The same in what is otherwise a record. */
const manyInRecord = `{"id":"1","more":[${"1,".repeat(200_000)}1]}`;
const okAnswer = (body: Buffer | string): Buffer =>
  Buffer.concat([
    Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`),
    Buffer.from(body),
  ]);

type Answer = (sends: Sends, request: RawRequest) => void;

const rows: HostileRow[] = [];
function add(
  operation: Operation,
  limit: HostileRow["limit"],
  says: string,
  peers: Readonly<Record<string, HostileRow["start"]>>,
): void {
  for (const [peer, start] of Object.entries(peers)) {
    rows.push({ operation, peer, start, limit, says });
  }
}
const one = (name: string, answer: Answer) => ({ [name]: () => http(answer) });

// What a peer may do with any answer over HTTP.
const body = one("an endless body", ({ write, flood }) => {
  write("HTTP/1.1 200 OK\r\n\r\n");
  flood(megabyte);
});
const headers = one("endless headers", ({ write, flood }) => {
  write("HTTP/1.1 200 OK\r\n");
  flood(Buffer.from("x-header: value\r\n".repeat(10_000)));
});
const trailers = one("endless trailers", ({ write, flood }) => {
  write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n");
  flood(Buffer.from("x-trailer: value\r\n".repeat(10_000)));
});
const provisional = "HTTP/1.1 102 Processing\r\n\r\n";
const interim = one("provisional answers without end", ({ flood }) =>
  flood(Buffer.from(provisional.repeat(10_000))),
);
const slow = one("a byte each half second", ({ write, drip }) => {
  write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
  drip("x");
});
const silent = one("silence after connecting", () => undefined);

const broken = "ERR_BAD_RESPONSE responseBroken";
const tooLarge = "ERR_TOO_LARGE tooLarge";

add("device: measure", "jsonLimitBytes", tooLarge, {
  ...body,
  ...one("chunks of ten bytes", ({ write, flood }) => {
    write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    flood(Buffer.from(`a\r\n${"x".repeat(10)}\r\n`.repeat(20_000)));
  }),
});
add(
  "device: measure",
  "recordLimits",
  "ERR_TOO_LARGE jsonTooLarge",
  one("more values than any measurement", ({ end }) => end(okAnswer(manyValues))),
);
add("device: measure", "maxHeaderSize", broken, { ...headers, ...trailers });
add("device: measure", "mostProvisional", broken, interim);
add("device: measure", "timeout", "ERR_TIMEOUT timeout", {
  ...slow,
  ...silent,
});

add("cloud: list", "jsonLimitBytes", tooLarge, body);
add(
  "cloud: list",
  "listLimits",
  "ERR_TOO_LARGE jsonTooLarge",
  one("more values than any list", ({ end }) => end(okAnswer(manyValues))),
);
add(
  "cloud: list",
  "jsonLimitBytes",
  "ERR_BAD_RESPONSE responseFailed",
  one("an error code of spaces", ({ end }) => end(okAnswer(`{"errorCode":"${" ".repeat(5_000_000)}x"}`))),
);
add("cloud: list", "maxHeaderSize", broken, headers);
add("cloud: list", "mostProvisional", broken, interim);
add("cloud: list", "timeout", "ERR_TIMEOUT timeout", slow);

const from = ({ headers }: RawRequest): number => Number(/\d+/.exec(headers["range"] ?? "0")?.[0]);
/** Sends one byte of an object of this length, and ends the connection. */
const oneByte =
  (length: number): Answer =>
  ({ end }, request) => {
    const at = from(request);
    const range = `content-range: bytes ${at}-${length - 1}/${length}\r\n`;
    end(
      `HTTP/1.1 ${at === 0 ? "200 OK" : "206 Partial Content"}\r\netag: "1"\r\n${at === 0 ? "" : range}content-length: ${length - at}\r\n\r\n\0`,
    );
  };
const endlessPart: Answer = ({ write, flood, end }, request) => {
  const at = from(request);
  const given = 'etag: "1"\r\ncontent-type: image/jpeg\r\n';
  if (at === 0) {
    write(`HTTP/1.1 200 OK\r\n${given}content-length: 400000\r\n\r\n`);
    end(Buffer.concat([jpeg.subarray(0, 50), megabyte.subarray(0, 100_000)]));
  } else {
    write(
      `HTTP/1.1 206 Partial Content\r\n${given}content-range: bytes ${at}-399999/400000\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    flood(Buffer.concat([Buffer.from("f4240\r\n"), megabyte, Buffer.from("\r\n")]));
  }
};
for (const operation of ["cloud: medium to a Buffer", "cloud: medium to a file"] as const) {
  add(operation, "maxHeaderSize", broken, headers);
  add(
    operation,
    "Content-Range",
    "ERR_BAD_RESPONSE responseLonger",
    one("a part that never ends", endlessPart),
  );
  add(operation, "leastBytesPerSecond", "ERR_TIMEOUT stalled", slow);
  add(
    operation,
    "leastProgressBytes",
    "ERR_CONNECTION_LOST connectionShort",
    one("a byte with each connection", oneByte(400_000)),
  );
}
add("cloud: medium to a Buffer", "timeout", "ERR_TIMEOUT stalled", silent);
add(
  "cloud: medium to a Buffer",
  "defaultLimitBytes",
  tooLarge,
  one("a JPEG without an end", ({ write, flood }) => {
    write("HTTP/1.1 200 OK\r\ncontent-type: image/jpeg\r\n\r\n");
    write(jpeg.subarray(0, 20));
    flood(megabyte);
  }),
);
add(
  "cloud: medium to a file",
  "bytesPerRequest",
  "ERR_BAD_RESPONSE responseUnfinished",
  one("a JPEG of fill bytes, cut off", ({ write, end }) => {
    write("HTTP/1.1 200 OK\r\ncontent-type: image/jpeg\r\n\r\n");
    end(Buffer.concat([jpeg.subarray(0, 3), Buffer.alloc(30_000_000, 0xff)]));
  }),
);

add("cloud through a proxy", "timeout", "ERR_UNREACHABLE unreachableSilent", silent);
add("cloud through a proxy", "maxHeaderSize", "ERR_UNREACHABLE unreachableProxy", headers);

const listing = (content: string): Buffer => okAnswer(`<ListBucketResult>${content}</ListBucketResult>`);
const elements = "<a/>".repeat(2_000_000);
let page = 0;
add("bucket: list", "mostXmlBytes", "ERR_STORE bucketFailed", body);
add(
  "bucket: list",
  "mostElements",
  "ERR_STORE bucketFailed",
  one("8 MB of elements", ({ end }) => end(listing(elements))),
);
add(
  "bucket: list",
  "mostEmptyPages",
  "ERR_STORE bucketFailed",
  one("empty pages without end", ({ write }) => {
    page += 1;
    const next = `<NextContinuationToken>${page}</NextContinuationToken>`;
    write(listing(`<IsTruncated>true</IsTruncated>${next}`));
  }),
);
add("bucket: list", "mostTries", "ERR_STORE bucketUnreachable", { ...headers, ...trailers });
add("bucket: list", "mostProvisional", "ERR_STORE bucketFailed", interim);
add("bucket: list", "wholeAnswerMs", "ERR_STORE bucketSlow", {
  ...one("a provisional answer each half second", ({ drip }) => drip(provisional)),
  ...one("a few kilobytes a second", ({ write, drip }) => {
    write(bigHead);
    drip(" ".repeat(5_000));
  }),
});
add("bucket: list", "wholeAnswerMs", "ERR_STORE bucketUnreachable", silent);
add("bucket: read", "leastBytesPerSecond", "ERR_STORE bucketSlow", slow);
add(
  "bucket: read",
  "largestManifestBytes",
  "done",
  one("an object of 100 GB that does not come", ({ write, drip }) => {
    write(bigHead);
    drip("x");
  }),
);
add(
  "bucket: read",
  "leastProgressBytes",
  "ERR_STORE bucketUnreachable",
  one("a byte with each connection", oneByte(1_000)),
);
const begun = okAnswer(
  "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>",
);
add(
  "bucket: upload",
  "mostTries",
  "ERR_STORE bucketFailed",
  one("ETags and an end that lie", ({ write }, { method, target }) => {
    // It says that it has all, and has nothing.
    if (method === "PUT") {
      write('HTTP/1.1 200 OK\r\netag: "lie"\r\ncontent-length: 0\r\n\r\n');
    } else if (method === "POST") {
      write(target.includes("uploads") ? begun : okAnswer("<Unknown/>"));
    } else {
      write(`HTTP/1.1 200 OK\r\nx-amz-meta-sha256: ${"a".repeat(64)}\r\ncontent-length: 0\r\n\r\n`);
    }
  }),
);

const announced = 2 ** 31 - 1;
const endless = (what: Parameters<typeof serveEndless>[0]) => () => postgres(serveEndless(what));
const many = (count: number, bytes: Buffer): Buffer => Buffer.concat(Array<Buffer>(count).fill(bytes));
const typedAs = (type: number, value: string) => {
  const facts = Buffer.alloc(18);
  facts.writeInt32BE(type, 6);
  const column = message("T", Buffer.from([0, 1]), Buffer.from("server_version\0"), facts);
  return endless({
    first: Buffer.concat([column, row(value), message("C", "SELECT 1\0"), ready]),
    again: message("N", "SNOTICE\0\0"),
  });
};
const beginning = Buffer.from("SFATAL\0M");
const tooLong = "ERR_STORE postgresLong";
const notThis = "ERR_STORE postgresProtocol";
add("PostgreSQL: open", "mostAnswerBytes", tooLong, {
  "endless rows": endless({ first: columns(1), again: many(500, row("x".repeat(1_000))) }),
  "notices without end": endless({ again: many(500, message("N", `SNOTICE\0M${"x".repeat(1_000)}\0\0`)) }),
  "one row of 500 MB": endless({ first: Buffer.concat([columns(1), head("D", 5e8)]), again: megabyte }),
  "an error of 2^31-1 bytes": endless({
    first: Buffer.concat([head("E", announced), beginning]),
    again: megabyte,
  }),
});
add("PostgreSQL: open", "messageCostBytes", tooLong, {
  "rows without content": endless({ first: columns(0), again: many(50_000, row()) }),
});
add("PostgreSQL: open", "mostColumnsBytes", tooLong, {
  "results of many columns": endless({ again: columns(30_000) }),
});
add("PostgreSQL: open", "ofAnswer", notThis, {
  "suspended rows": endless({ first: columns(1), again: Buffer.concat([row("x"), message("s")]) }),
});
add("PostgreSQL: open", "endings", notThis, {
  "ends of answers without end": endless({ again: many(50_000, ready) }),
});
add("PostgreSQL: open", "forms", notThis, {
  "an error without an end": endless({ first: message("E", "SFATAL\0"), again: message("E", "SFATAL\0Mx") }),
});
add("PostgreSQL: open", "numberTypes", notThis, { "an integer that is NaN": typedAs(20, "NaN") });
add("PostgreSQL: open", "numberTypes", tooLong, {
  "a list in lists": typedAs(1_007, "{".repeat(100_000)),
  "JSON that is deep": typedAs(114, "[".repeat(100_000)),
});
add("PostgreSQL: open", "defaultAnswerMs", "ERR_STORE postgresUnreachable", {
  "a notice each half second": endless({ again: message("N", "SNOTICE\0\0"), pauseMs: 500 }),
});
add("PostgreSQL: open", "mostLoginBytes", tooLong, {
  "a message of 2^31-1 bytes before the login": endless({
    login: false,
    first: head("R", announced),
    again: megabyte,
  }),
  "settings without end": endless({ login: false, again: many(10_000, message("S", "name\0value\0")) }),
  "logins without end": endless({ login: false, again: message("R", 10, "SCRAM-SHA-256\0\0") }),
});
add("PostgreSQL: open", "ofLogin", notThis, {
  "a web page": endless({
    login: false,
    again: Buffer.from(`HTTP/1.1 400 Bad Request\r\n\r\n${"x".repeat(1e6)}`),
  }),
});
add("PostgreSQL: open", "defaultConnectMs", "ERR_STORE postgresUnreachable", {
  "silence after connecting": async () => {
    const peer = await http(() => undefined);
    return { ...peer, url: `postgres://postgres@${new URL(peer.url).host}/stub` };
  },
});

// It is read as other answers are before it is measured.
add("time stamp", "jsonLimitBytes", tooLarge, body);
add(
  "time stamp",
  "mostBytes",
  tooLarge,
  one("a response of 300 kB", ({ end }) => end(okAnswer(Buffer.alloc(300_000, 0x30)))),
);
add("time stamp", "maxHeaderSize", broken, headers);
add("time stamp", "mostProvisional", broken, interim);
add("time stamp", "timeout", "ERR_TIMEOUT timeout", slow);
add(
  "time stamp",
  "untried",
  "ERR_BAD_RESPONSE timestampWrong",
  one("certificates in a ring", ({ end }) => end(okAnswer(fixture("ring.tsr")))),
);
add(
  "time stamp",
  "mostIdentifierBytes",
  "ERR_BAD_RESPONSE timestampWrong",
  one("object identifiers of 250 kB", ({ end }) =>
    end(okAnswer(Buffer.concat([Buffer.from([0x06, 0x83, 0x03, 0xd0, 0x90]), Buffer.alloc(250_000, 0x7f)]))),
  ),
);

/** Sends a post and returns the status of the answer. */
function posts(headers: string, send: (sends: Sends) => void): NonNullable<HostileRow["attack"]> {
  return async (port) => {
    const socket = connect(port, "127.0.0.1").setNoDelay(true);
    let answer = "";
    socket.on("error", () => undefined).on("data", (bytes) => (answer += bytes.toString("latin1")));
    socket.write(
      `POST /evidence/api/login HTTP/1.1\r\nhost: a\r\nsec-fetch-site: same-origin\r\ncontent-type: application/json\r\n${headers}\r\n`,
    );
    send(sendsTo(socket));
    await Promise.race([once(socket, "data"), once(socket, "close")]);
    const takenBytes = socket.bytesWritten - socket.writableLength;
    socket.destroy();
    return { said: `HTTP ${/ (\d{3}) /.exec(answer)?.[1] ?? "closed"}`, takenBytes };
  };
}
const senderRows: readonly Pick<HostileRow, "attack" | "limit" | "operation" | "peer" | "says">[] = [
  {
    operation: "webhook",
    peer: "a body longer than any",
    limit: "longestRefusedBytes",
    says: "HTTP 413",
    attack: posts("content-length: 100000000000\r\n", ({ flood }) => flood(megabyte)),
  },
  {
    operation: "webhook",
    peer: "a body without length",
    limit: "longestBodyBytes",
    says: "HTTP 413",
    attack: posts("transfer-encoding: chunked\r\n", ({ flood }) =>
      flood(Buffer.concat([Buffer.from("f4240\r\n"), megabyte, Buffer.from("\r\n")])),
    ),
  },
  {
    operation: "webhook",
    peer: "a byte each half second",
    limit: "bodyWithinMs",
    says: "HTTP 408",
    attack: posts("content-length: 100000\r\n", ({ drip }) => drip("x")),
  },
  {
    operation: "webhook",
    peer: "more values than any record",
    limit: "recordLimits",
    says: "HTTP 400",
    attack: posts(`content-length: ${manyInRecord.length}\r\n`, ({ write }) => write(manyInRecord)),
  },
  {
    operation: "evidence page",
    peer: "a login without end",
    limit: "mostRefusedBytes",
    says: "HTTP 413",
    attack: posts("content-length: 100000000000\r\n", ({ flood }) => flood(megabyte)),
  },
  {
    operation: "evidence page",
    peer: "a login, a byte each half second",
    limit: "bodyWithinMs",
    says: "HTTP closed",
    attack: posts("content-length: 10000\r\n", ({ drip }) => drip("x")),
  },
];
rows.push(...senderRows.map((one) => ({ ...one, start: nobody })));
rows.push({
  operation: "scanner",
  peer: "two million scans",
  limit: "mostWaiting",
  says: "scans dropped",
  start: nobody,
  attack: async (port) => {
    const socket = connect(port, "127.0.0.1");
    const many = Buffer.from("A\r".repeat(500_000));
    for (let sent = 0; sent < 4; sent += 1) {
      if (!socket.write(many)) {
        await once(socket, "drain");
      }
    }
    socket.end("LAST\r");
    return { takenBytes: 4 * many.length };
  },
});

function mostOf(limit: HostileRow["limit"]): Required<Most> {
  return { bytes: 0, tries: 1, ms: 0, ...limits[limit] };
}

/** Does it in a process of its own. */
async function run({
  operation,
  start,
  attack,
  limit,
}: HostileRow): Promise<Told & { readonly takenBytes: number }> {
  const peer = await start();
  const limitMs = mostOf(limit).ms > 0 ? timeoutMs : patientMs;
  const child = fork(new URL("./peers-child.ts", import.meta.url), [operation, peer.url, String(limitMs)], {
    execArgv: ["--max-old-space-size=1024", "--disable-warning=ExperimentalWarning"],
  });
  // What goes on without a limit is ended here.
  const late = setTimeout(
    () => child.kill("SIGKILL"),
    mostOf(limit).ms + (slackSeconds + startSeconds) * 1_000,
  );
  try {
    let told: Told | undefined;
    let attacked: Attacked | undefined;
    const beginAttack = async (port: number): Promise<void> => {
      attacked = await attack?.(port);
      child.send("ended");
    };
    child.on("message", (said: Told | { readonly port: number }) => {
      if ("port" in said) {
        void beginAttack(said.port);
      } else {
        told = said;
      }
    });
    const [, signal]: (string | null)[] = await once(child, "exit");
    assert.ok(told !== undefined && signal === null, "took too long or too much memory, and was ended");
    return { ...told, takenBytes: peer.takenBytes(), ...attacked };
  } finally {
    clearTimeout(late);
    child.kill("SIGKILL");
    await peer.close();
  }
}

describe("a hostile peer takes no more than the limits that SECURITY.md names", () => {
  const table: string[] = [];
  const line = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  after(() =>
    console.log(
      [line("operation", "peer", "ended with", "held", "grown", "taken", "after"), ...table].join("\n"),
    ),
  );

  for (const one of rows) {
    it(`${one.operation}: ${one.peer}`, async () => {
      const { bytes, tries, ms } = mostOf(one.limit);
      const { said, heldMs, grownBytes, takenBytes, seconds } = await run(one);
      const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
      table.push(
        line(
          one.operation,
          one.peer,
          said.slice(0, 60),
          `${Math.round(heldMs)} ms`,
          megabytes(grownBytes),
          megabytes(takenBytes),
          `${seconds.toFixed(1)} s`,
        ),
      );
      assert.equal(said.replace(/: \d+$/, ""), one.says);
      assert.ok(heldMs < mostHeldMs, `held up for ${heldMs} ms`);
      assert.ok(grownBytes < baseBytes + bytesPerByte * bytes, `grown by ${megabytes(grownBytes)}`);
      assert.ok(takenBytes < tries * (bytes + socketBytes), `took ${megabytes(takenBytes)}`);
      assert.ok(seconds < ms / 1_000 + slackSeconds, `ended after ${seconds} s`);
    });
  }
});
