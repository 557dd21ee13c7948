/**
 * A process that does one thing with a peer, and has nothing else in its memory. It says how that ended, how long its event loop was held,
 * and how far its memory has grown. What the peer does is in another process.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CloudClient } from "../../src/cloud/client.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { Bucket } from "../../src/vault/s3/bucket.ts";
import { freePort, listen } from "../support/servers.ts";
import { type Operation, type Told, databaseMs } from "./peers.ts";

const [, , operation = "", url = "", limitMs] = process.argv;
const timeoutMs = Number(limitMs);

const facts = { operation: "fetch media", surface: "cloud", host: "cloud" } as const;

async function clouds(): Promise<(baseUrl: string, proxyUrl?: string) => CloudClient> {
  const cloud = await import("../../src/cloud/client.ts");
  return (baseUrl, proxyUrl) =>
    new cloud.CloudClient({
      baseUrl,
      token: "token",
      timeoutMs,
      ...(proxyUrl === undefined ? {} : { proxyUrl }),
    });
}

async function closing(opened: { close(): Promise<unknown> }, work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } finally {
    await opened.close();
  }
}

async function buckets(): Promise<
  (url: string, work: (bucket: Bucket) => Promise<unknown>) => Promise<unknown>
> {
  const { readS3Url } = await import("../../src/vault/s3/bucket-address.ts");
  const s3 = await import("../../src/vault/s3/bucket.ts");
  const { forTests } = await import("../support/s3-servers.ts");
  return async (url, work) => {
    const address = readS3Url(`s3://evidence?endpoint=${url}`);
    const bucket = await s3.Bucket.open(address, { ...forTests, answerMs: timeoutMs });
    return await closing(bucket, work(bucket));
  };
}

/** Tells the peer where it is to connect to, and waits until it has done what it does. */
async function untilPeerEnds(port: number): Promise<void> {
  const ended = once(process, "message");
  process.send?.({ port });
  await ended;
}

async function serving(
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => void answer(request, response));
  try {
    await untilPeerEnds(await listen(server));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Loads what an operation needs and nothing else, and returns how to do it with the peer at an address. */
type Load = () => Promise<(url: string) => Promise<unknown>>;

const operations: Readonly<Record<Operation, Load>> = {
  "device: measure": async () => {
    const { DeviceClient } = await import("../../src/device/client.ts");
    return async (address) => {
      const client = new DeviceClient({ address, timeoutMs });
      return await closing(client, client.measure());
    };
  },
  "cloud: list": async () => {
    const cloudOf = await clouds();
    return async (url) => {
      const client = cloudOf(url);
      return await closing(client, client.listMedia("1"));
    };
  },
  "cloud: medium to a Buffer": async () => {
    const cloudOf = await clouds();
    const { readToBuffer } = await import("../../src/media/read-to-buffer.ts");
    return async (url) => {
      const client = cloudOf(url);
      return await closing(
        client,
        readToBuffer(() => client.media("1", "1"), facts),
      );
    };
  },
  "cloud: medium to a file": async () => {
    const cloudOf = await clouds();
    const { saveToFile } = await import("../../src/media/save-to-file.ts");
    return async (url) => {
      const client = cloudOf(url);
      const folder = await mkdtemp(join(tmpdir(), "peers-"));
      try {
        return await saveToFile(
          () => client.media("1", "1"),
          { folder, suggestedBase: "medium", ifExists: "rename" },
          facts,
        );
      } finally {
        await client.close();
        await rm(folder, { recursive: true });
      }
    };
  },
  "cloud through a proxy": async () => {
    const cloudOf = await clouds();
    // Not closed: the process goes on as long as a connection to the proxy is open.
    return async (url) => await cloudOf("https://cloud.example", url).listMedia("1");
  },
  "bucket: list": async () => {
    const withBucket = await buckets();
    return (url) =>
      withBucket(url, async (bucket) => {
        for await (const page of bucket.list("")) {
          void page;
        }
      });
  },
  "bucket: read": async () => {
    const withBucket = await buckets();
    const { BucketFile } = await import("../../src/vault/bucket/bucket-disk.ts");
    const { readWhole } = await import("../../src/vault/packages/package-files.ts");
    const { largestManifestBytes } = await import("../../src/vault/packages/manifest.ts");
    return (url) =>
      withBucket(url, async (bucket) => {
        const opened = await bucket.read("key");
        if (opened === undefined) {
          return;
        }
        const file = new BucketFile(bucket, "key", opened);
        await closing(file, readWhole(file, largestManifestBytes));
      });
  },
  "bucket: upload": async () => {
    const withBucket = await buckets();
    const { sourceOf } = await import("../../src/vault/s3/store-object.ts");
    return (url) =>
      withBucket(url, (bucket) => bucket.store("key", sourceOf(Buffer.alloc(100_000, 1)), { inParts: true }));
  },
  "PostgreSQL: open": async () => {
    const { readPostgresUrl } = await import("../../src/database/postgres-address.ts");
    const { PostgresDatabase } = await import("../../src/database/postgres-database.ts");
    const { migrations } = await import("../../src/database/schema.ts");
    return async (url) => {
      const database = await PostgresDatabase.open({
        address: readPostgresUrl(url),
        migrations,
        access: "create",
        answerWithinMs: databaseMs,
        connectWithinMs: databaseMs,
      });
      await database.close();
    };
  },
  "time stamp": async () => {
    const { TimestampServer } = await import("../../src/vault/timestamp-server/client.ts");
    const { readRequest } = await import("../../src/vault/timestamp/token.ts");
    const { verifyTimestamp } = await import("../../src/vault/timestamp/verify.ts");
    const { certificates, fixture } = await import("../vault/timestamp/fixtures.ts");
    return async (server) => {
      const client = new TimestampServer({ server, timeoutMs });
      const request = readRequest(fixture("request.tsq"));
      const verify = (response: Buffer) => verifyTimestamp(response, request, certificates("root"));
      return await closing(client, client.request(fixture("request.tsq"), verify, undefined));
    };
  },
  webhook: async () => {
    const { unknownDevice } = await import("../../src/model/instrument.ts");
    const { RecordPump } = await import("../../src/webhook/pump.ts");
    const { WebhookReceiver } = await import("../../src/webhook/receiver.ts");
    const { Room } = await import("../../src/webhook/room.ts");
    return async () => {
      const pump = new RecordPump();
      const rules = { secret: null, dedupeMs: 0, queueLimit: 10, onlyOk: false, deviceClientIds: [] };
      const events = { deliver: () => undefined, unreached: () => [], refused: () => undefined };
      const receiver = new WebhookReceiver(
        { ...rules, deviceOf: () => unknownDevice },
        events,
        pump,
        new Room(),
      );
      receiver.resume();
      try {
        await serving((request, response) => receiver.receive(request, response, undefined));
      } finally {
        receiver.close();
      }
    };
  },
  "evidence page": async () => {
    const { FailedLogins, PasswordChecks } = await import("../../src/access/logins.ts");
    const { Sessions } = await import("../../src/access/sessions.ts");
    const { EvidencePage } = await import("../../src/evidence/page/evidence-page.ts");
    return async () => {
      const page = new EvidencePage({
        rules: { by: "logins", logins: [] },
        memory: { sessions: new Sessions(), failed: new FailedLogins(), checks: new PasswordChecks() },
        open: () => Promise.reject(new Error("not asked for")),
        openDatabase: () => Promise.reject(new Error("not asked for")),
        say: ({ message }) => message,
        onProblem: () => undefined,
      });
      await serving((request, response) => page.handle(request, response, "evidence"));
    };
  },
  scanner: async () => {
    const { TestFlow } = await import("../support/flow.ts");
    return async () => {
      const port = await freePort();
      const tcp = { datamode: "stream", datatype: "utf8", newline: "", topic: "", trim: false, tls: "" };
      const receiver = { id: "tcp", z: "tab", type: "tcp in", server: "server", port: String(port), ...tcp };
      const flow = await TestFlow.start([
        { ...receiver, wires: [["node"]] },
        { id: "node", z: "tab", type: "dimensioner-scan", framing: "stream", dedupe: 0 },
      ]);
      try {
        begin();
        await untilPeerEnds(port);
        while (
          flow.sent.findLast(({ nodeId }) => nodeId === "node")?.msg["transactionReference"] !== "LAST"
        ) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return (
          flow.shown.findLast(({ text }) => /^scans dropped: \d+$/.test(text))?.text ?? "no scans dropped"
        );
      } finally {
        await flow.stop();
      }
    };
  },
};

/** No row may take as much; without a limit, the computer would have no memory left. */
const mostBytes = 2_000_000_000;
let [before, since, heldMs] = [0, 0, 0];
let watch: NodeJS.Timeout | undefined;
/**
 * From here on, what the process takes is counted: how far its memory grows, and how much time of the processor one turn of the event
 * loop takes. What else a computer does meanwhile is none of its doing.
 */
function begin(): void {
  clearInterval(watch);
  let last = threadMs();
  watch = setInterval(() => {
    const now = threadMs();
    [heldMs, last] = [Math.max(heldMs, now - last), now];
    if (process.memoryUsage.rss() > mostBytes) {
      process.kill(process.pid, "SIGKILL");
    }
  }, 5);
  if (process.platform === "linux") {
    // Forgets the peak of loading (proc_pid_clear_refs(5)).
    writeFileSync("/proc/self/clear_refs", "5");
  }
  [before, since, heldMs] = [process.memoryUsage.rss(), performance.now(), 0];
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Most memory since the beginning. The system's `maxRSS` is none of it: in a child process it begins with what its parent had. */
function peakBytes(): number {
  const [, kilobytes] =
    process.platform === "linux"
      ? (/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [])
      : [];
  return kilobytes === undefined ? process.memoryUsage.rss() : Number(kilobytes) * 1_024;
}

const work = await operations[operation as Operation]();
if (url !== "") {
  // What is loaded only for the first connection.
  await work(
    operation.startsWith("PostgreSQL") ? "postgres://nobody@127.0.0.1:1/nothing" : "http://127.0.0.1:9",
  ).catch(() => undefined);
}
begin();
const outcome: unknown = await work(url).catch((error: unknown) => error);
clearInterval(watch);
const told: Told = {
  said: isDimensionerError(outcome)
    ? `${outcome.code} ${outcome.sentence}`
    : outcome instanceof Error
      ? `error ${outcome.stack}`
      : typeof outcome === "string"
        ? outcome
        : "done",
  seconds: (performance.now() - since) / 1000,
  heldMs,
  grownBytes: peakBytes() - before,
};
process.send?.(told);
process.disconnect();
