/**
 * A process of its own that runs archive jobs until it is killed: goes on with what is open, then takes the jobs it is
 * given. Arguments: root, origin of the cloud, the new jobs with commas between, and for packages that may be away the folder of Node-RED.
 * Prints "open", "accepted <id>" and
 * "reported <id> <whether it was there before> <whether it was resumed>", and "done" when nothing is left.
 */
import { CloudClient } from "../../src/cloud/client.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import { storeOfKills } from "./store.ts";
import { intentOf, openArchive, pictureOf } from "./support.ts";

const [root = "", origin = "", list = "", home] = process.argv.slice(2);
const client = new CloudClient({ baseUrl: origin, token: "simulator", timeoutMs: 5_000 });
const { runner, close } = await openArchive(root, client, {
  archives: new Archives(),
  concurrency: 4,
  store: storeOfKills(root, home),
});
console.log("open");

async function finish(submission: Submission, given?: string): Promise<void> {
  const { wasThere, manifest } = await submission.end();
  console.log(`reported ${given ?? manifest.transactionId} ${wasThere} ${submission.isResumed}`);
  submission.messageSent();
}

async function take(id: string): Promise<void> {
  const submission = id.startsWith("message")
    ? await runner.submitMedia(
        intentOf(id, { origin: null }),
        [0, 1].map((index) => ({
          content: pictureOf(`${id} ${index}`),
          contentType: "image/jpeg",
          contentId: null,
          description: `picture ${index}`,
          filename: null,
        })),
        null,
      )
    : await runner.submit(intentOf(id, { origin: client.peer.origin, expect: ["video/mp4", "image/jpeg"] }));
  console.log(`accepted ${id}`);
  await finish(submission, id);
}

const resumed = [...runner.resume(() => true)].map((submission) => finish(submission));
const ids = list.split(",").filter((id) => id !== "");
await Promise.all([...resumed, ...ids.map((id) => take(id))]);
console.log("done");
await close();
await client.close();
