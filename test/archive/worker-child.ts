/**
 * A process that works on the jobs of a database which others use as well. Arguments: root, address of the database, origin of the cloud,
 * how long its lease is in seconds, the address of the bucket of packages or nothing. Prints "open", archives each transaction whose id it reads from its input, and takes over those of other
 * workers. Prints "archived <id>", or the sentence of an error and the id; at the line "close" it takes over no more, and
 * ends when all that it has is archived.
 */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { CloudClient } from "../../src/cloud/client.ts";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import { bucketOf, openSharedStore } from "./shared-store.ts";
import { intentOf, openArchive } from "./support.ts";

const [root = "", url = "", origin = "", seconds = "", bucket = ""] = process.argv.slice(2);
const lookEveryMs = 100;

const client = new CloudClient({ baseUrl: origin, token: "simulator", timeoutMs: 5_000 });
const options = { address: readPostgresUrl(url), leaseSeconds: Number(seconds) };
// Each process is another computer, which does not have the disk of the others.
const workFolder = join(root, String(process.pid));
const vault =
  bucket === ""
    ? ({ kind: "folder", path: join(root, "packages"), workFolder } as const)
    : bucketOf(bucket, workFolder);
const { store } = await openSharedStore(vault, options);
const { archive, runner, close } = await openArchive(root, client, { store, concurrency: 4 });

const runs: Promise<void>[] = [];

async function run(id: string, submitted: Promise<Submission>): Promise<void> {
  try {
    const submission = await submitted;
    try {
      await submission.end();
      submission.messageSent();
      console.log(`archived ${id}`);
    } catch (error) {
      if (isDimensionerError(error) && error.sentence !== "cancelledKept") {
        submission.messageSent(error);
      }
      throw error;
    }
  } catch (error) {
    console.log(`${isDimensionerError(error) ? error.sentence : String(error)} ${id}`);
  }
}

async function takeOver(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // While the database is away there is nothing to take.
    await archive.takeOver({ node: "node", isMine: () => true }).catch(() => undefined);
    for (const submission of runner.resume(() => true)) {
      runs.push(run(submission.running?.job.transactionId ?? "", Promise.resolve(submission)));
    }
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

const closing = new AbortController();
console.log("open");
const taking = takeOver(closing.signal);
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "close") {
    break;
  }
  runs.push(run(line, runner.submit(intentOf(line, { origin: client.peer.origin }))));
}
closing.abort();
await taking;
// What was accepted at the last moment would stay open.
await Promise.all(runs);
await close();
await client.close();
process.stdin.destroy();
