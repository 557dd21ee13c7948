import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudClient } from "../../src/cloud/client.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import type { Archived } from "../../src/jobs/seal.ts";
import type { ArchiveDisk } from "../../src/vault/archive-disk.ts";
import type { Manifest } from "../../src/vault/packages/manifest.ts";
import type { Store } from "../../src/vault/store.ts";
import { newDatabases, storeIn } from "../archive/store.ts";
import { type Opened, intentOf, openArchive, pictureOf, readPackages, sha256Of } from "../archive/support.ts";
import { token } from "../support/operations.ts";
import { otherDisk } from "../support/other-disk.ts";
import type { SweepEnvironment } from "./environment.ts";
import type { End, Run, SweptOperation } from "./operations.ts";

const id = "905866";
/** Long enough to get over one fault, and short enough to give up when the fault stays. */
const giveUpMs = 700;
const pictures = [pictureOf("one"), pictureOf("two")];

type Submit = (archive: Opened, client: CloudClient, giveUpMs: number) => Promise<Submission>;

const fromCloud: Submit = ({ runner }, _client, limitMs) =>
  // The origin is a part of what identifies a job, so it is the simulator's, also where the requests go through a
  // proxy.
  runner.submit(
    intentOf(id, { origin: "https://cloud.example", giveUpMs: limitMs, raw: "{}", measurement: "{}\n" }),
  );

const fromMessage: Submit = ({ runner }, _client, limitMs) =>
  runner.submitMedia(
    intentOf(id, { origin: null, giveUpMs: limitMs }),
    pictures.map((content) => ({
      content,
      contentType: null,
      contentId: null,
      description: null,
      filename: null,
    })),
    null,
  );

async function archiveOnce(
  archive: Opened,
  client: CloudClient,
  submit: Submit,
  limitMs: number,
): Promise<Archived> {
  const submission = await submit(archive, client, limitMs);
  const archived = await submission.end();
  submission.messageSent();
  return archived;
}

/** `spool`: a folder for what is not a package yet, on another disk; null: it is beside the packages. */
function runOf({ sim }: SweepEnvironment, submit: Submit, spool: string | null): Run {
  for (const bytes of pictures) {
    sim.cloud.addMedia(id, { contentType: "image/jpeg", bytes });
  }
  // A process opens a database once: a run after a failure meets the one that is still being opened or closed.
  const databases = newDatabases();
  const storeOf = (folder: string): Store =>
    storeIn(folder, databases, undefined, spool === null ? {} : { workFolder: join(spool, "spool") });
  let open: Opened | undefined;
  let archives: Archives | undefined;
  const shut = (): Promise<void> | undefined => open?.runner.close();
  return {
    shut,
    async start({ clients, signal, disk, folder }) {
      // What it has beyond a disk for media is there too: the proxy hands on whatever the real module has.
      archives = new Archives({ disk: disk as ArchiveDisk });
      const store = storeOf(folder);
      const archive = await openArchive(folder, clients.cloud, { archives, concurrency: 1, store });
      open = archive;
      const stop = (): void => void shut();
      signal.addEventListener("abort", stop);
      try {
        if (signal.aborted) {
          stop();
        }
        return await archiveOnce(archive, clients.cloud, submit, giveUpMs);
      } finally {
        signal.removeEventListener("abort", stop);
        await archive.close();
      }
    },
    async again(end, root) {
      await finish(sim.cloud.origin, root, submit, end, storeOf(root), archives);
      const work = [join(root, ".dimensioner-archive"), ...(spool === null ? [] : [spool])];
      const left = (await Promise.all(work.map((folder) => readdir(folder, { recursive: true })))).flat();
      // Each store has a folder of its own there, which stays.
      assert.deepEqual(
        left.filter((path) => /(?:^|\/)(?:work|delivery)\/[^/]+\/./.test(path)),
        [],
        "work is left over",
      );
      await (spool === null ? undefined : rm(spool, { recursive: true }));
    },
  };
}

/**
 * Does what follows a deploy: finishes open jobs, and submits the same job again, which has to find its package; there
 * must be no other package.
 */
async function finish(
  origin: string,
  root: string,
  submit: Submit,
  end: End,
  store: Store,
  archives = new Archives(),
): Promise<void> {
  const client = new CloudClient({ baseUrl: origin, token, timeoutMs: 4_000 });
  const archive = await openArchive(root, client, { archives, store });
  try {
    const left = [...archive.runner.resume(() => true)];
    for (const submission of left) {
      await submission.end().catch(() => undefined);
      submission.messageSent();
    }
    const first = await archiveOnce(archive, client, submit, 0);
    const second = await archiveOnce(archive, client, submit, 0);
    assert.deepEqual(
      [second.wasThere, second.folder],
      [true, first.folder],
      "the same job again makes another package",
    );
    assert.deepEqual(second.manifest, first.manifest);
    if ("value" in end) {
      assert.deepEqual(manifestOf(end.value), first.manifest, "the package has changed");
    }
  } finally {
    await archive.close();
    await client.close();
  }
  const packages = [...(await readPackages(root)).values()];
  assert.equal(packages.length, 1, `${packages.length} packages`);
  const hashes = packages.flatMap(({ items }) => items.map(({ sha256 }) => sha256));
  assert.deepEqual(hashes.sort(), pictures.map(sha256Of).sort());
}

function manifestOf(value: unknown): Manifest | undefined {
  return typeof value === "object" && value !== null && "manifest" in value
    ? (value.manifest as Manifest)
    : undefined;
}

/** Archive jobs, from the cloud and from what a message brings. */
export const sweptArchives: readonly SweptOperation[] = (
  [
    ["archive from the cloud", fromCloud, false],
    ["archive from a message", fromMessage, false],
    ["archive from the cloud into a folder on another disk", fromCloud, true],
  ] as const
).map(([name, submit, hasSpool]) => ({
  name,
  kind: "archive",
  surface: "cloud",
  prepare: async (environment) =>
    runOf(
      environment,
      submit,
      hasSpool ? await mkdtemp(join(otherDisk() ?? tmpdir(), "dimensioner-sweep-")) : null,
    ),
}));
