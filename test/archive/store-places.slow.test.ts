import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { Archives } from "../../src/jobs/archive.ts";
import type { Finding } from "../../src/model/archive-reports.ts";
import { verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { openBucketVault } from "../../src/vault/open-vault.ts";
import { type OpenedPackages, openPackages } from "../../src/vault/open-packages.ts";
import { rejectsWith } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import type { BucketStub, Fault, StubRequest } from "../support/s3-stub.ts";
import { prefix, stagedIn } from "./bucket-objects.ts";
import { bucketOf } from "./shared-store.ts";
import { simulatedCloudOfSuite } from "./simulated-cloud.ts";
import { type TestPlace, storeKinds, withPlace } from "./store-places.ts";
import { type Opened, intentOf, mediumOf, openArchive, pictureOf, until } from "./support.ts";
import { tidyBucket } from "./tidy-bucket.ts";

const forMessage = (id: string, more: Parameters<typeof intentOf>[1] = {}) =>
  intentOf(id, { origin: null, raw: `{"id":"${id}"}`, measurement: `{"length":1}`, ...more });
const isMine = (): boolean => true;
const referencesOf = (transactionReference: string) => ({
  ...intentOf("").references,
  transactionReference,
  customReference1: transactionReference,
  barcodeReference: transactionReference,
});

for (const kind of storeKinds) {
  describe(`archive: packages in a ${kind.files}, with ${kind.database}`, () => {
    useCredentials();
    const cloud = simulatedCloudOfSuite();
    const running: Opened[] = [];

    /** Runs a test with a store of this kind, and closes what it has left open. */
    const withStore = (act: (place: TestPlace) => Promise<void>): Promise<void> =>
      withPlace(kind, async (place) => {
        try {
          await act(place);
        } finally {
          await Promise.all(running.splice(0).map((one) => one.close()));
        }
      });

    /** Opens the store as a process that has just started. */
    async function start(place: TestPlace) {
      const opened = await place.open();
      const archive = await openArchive("", cloud.client, { store: opened.store });
      running.push(archive);
      return { ...opened, ...archive };
    }

    async function archive({ runner }: Pick<Opened, "runner">, id: string) {
      const submission = await runner.submitMedia(
        forMessage(id),
        [mediumOf(`${id} 1`), mediumOf(`${id} 2`)],
        null,
      );
      const archived = await submission.end();
      submission.messageSent();
      return archived;
    }

    async function verify(place: TestPlace): Promise<readonly Finding[]> {
      const findings: Finding[] = [];
      const { stub, vault } = place;
      const named = vault.kind === "folder" ? vault.path : (stub?.url(vault.address.prefix) ?? "");
      const report = await verifyArchive(named, {
        database: place.database,
        onFinding: (finding) => findings.push(finding),
      });
      assert.equal(report.verdict, findings.length === 0 ? "ok" : "wrong");
      return findings;
    }

    it("archives media of messages and of the cloud, each once", async () => {
      await withStore(async (place) => {
        const { runner, query, close } = await start(place);
        cloud.sim.cloud.addMedia("of the cloud", { contentType: "image/jpeg", bytes: pictureOf("cloud") });
        const first = await archive({ runner }, "first");
        const second = await (await runner.submit(cloud.intentFor("of the cloud"))).end();
        const again = await archive({ runner }, "first");
        assert.deepEqual([first.wasThere, second.wasThere, again.wasThere], [false, false, true]);
        assert.equal(again.path, first.path);
        const packages = await place.packages();
        assert.deepEqual([...packages.keys()].toSorted(), [first.path, second.path].toSorted());
        assert.deepEqual(await query("SELECT * FROM uploads"), []);
        await until(() => stagedIn(place.stub).length === 0, "nothing is staged");
        await close();
        assert.deepEqual(await verify(place), []);
      });
    });

    it("archives absurd weights and references as any others, and finds them", async () => {
      await withStore(async (place) => {
        const long = Array.from({ length: 3_000 }, () => randomInt(33, 127))
          .map((code) => String.fromCodePoint(code))
          .join("");
        const absurd: readonly (readonly [string, Parameters<typeof intentOf>[1]])[] = [
          ["heavy", { measurement: '{"weight":1e300,"weightUnitOfMeasure":"kg"}' }],
          ["high", { measurement: '{"length":1,"width":1,"height":1e17,"dimsUnitOfMeasure":"cm"}' }],
          ["long", { references: referencesOf(long), scan: { text: long, symbology: null, sscc: null } }],
          ["wide", { references: referencesOf("\u{1F4E6}".repeat(1_000)) }],
          ["usual", { references: referencesOf("ORDER-2") }],
        ];
        const paths: string[] = [];
        for (const [id, more] of absurd) {
          const { runner, close, endLease } = await start(place);
          const submission = await runner.submitMedia(forMessage(id, more), [mediumOf(id)], null);
          paths.push((await submission.end()).path);
          submission.messageSent();
          await close();
          await endLease();
        }
        assert.deepEqual([...(await place.packages()).keys()].toSorted(), paths.toSorted());
        const { query, close } = await start(place);
        const rows = await query(
          "SELECT location, weight_g, longest_mm FROM packages ORDER BY indexed_order",
        );
        assert.deepEqual(
          rows,
          paths.map((location) => ({ location, weight_g: null, longest_mm: null })),
        );
        await close();
        assert.deepEqual(await verify(place), []);
      });
    });

    it("adds later media as a supplement", async () => {
      await withStore(async (place) => {
        const { runner, close } = await start(place);
        const add = (text: string, contentType = "image/jpeg") =>
          cloud.sim.cloud.addMedia("parcel", { contentType, bytes: pictureOf(text) });
        const wanted = { expect: ["image/jpeg", "image/png"], waitMs: 50, onIncomplete: "keep" as const };
        const archiveIt = async () => {
          const submission = await runner.submit(cloud.intentFor("parcel", wanted));
          const archived = await submission.end();
          submission.messageSent();
          return archived;
        };
        add("first");
        const first = await archiveIt();
        add("later", "image/png");
        const later = await archiveIt();
        assert.equal(later.manifest.supplements?.sha256, first.sha256);
        assert.deepEqual(
          later.manifest.items.map(({ bytes }) => bytes),
          [pictureOf("later").length],
        );
        await close();
        assert.deepEqual(await verify(place), []);
        assert.equal((await place.packages()).size, 2);
      });
    });

    it("goes on after a restart with what was accepted", async () => {
      await withStore(async (place) => {
        const before = await start(place);
        const part = { id: "sequence", index: 0, count: 2 };
        const begun = forMessage("parts", { sequence: part.id, waitMs: 60_000, onIncomplete: "keep" });
        const submission = await before.runner.submitMedia(begun, [mediumOf("part 1")], part);
        const kept = rejectsWith(submission.end(), "ERR_CANCELLED", "cancelledKept");
        await before.close();
        await kept;
        await before.endLease();
        const { runner, archive: opened, close } = await start(place);
        // What the first one writes last, when nobody waits for it any more, holds its row up for a moment.
        const taken = async () => (await opened.takeOver({ node: "node", isMine })).count > 0;
        await until(async () => (await taken()) || kind.database === "SQLite", "it is taken over");
        const [resumed] = [...runner.resume(isMine)];
        await runner.submitMedia(begun, [mediumOf("part 2")], { ...part, index: 1 });
        const { manifest } = (await resumed?.end()) ?? assert.fail("no job");
        assert.deepEqual([manifest.items.length, manifest.complete], [2, true]);
        await close();
        assert.equal((await place.packages()).size, 1);
      });
    });

    if (kind.files === "bucket" && kind.database === "SQLite") {
      const isManifest = ({ method, key }: StubRequest): boolean =>
        method === "PUT" && key.endsWith("/manifest.json");
      const faults: Readonly<Record<string, (request: StubRequest) => Fault | undefined>> = {
        "every second request fails": (() => {
          let count = 0;
          return () => ((count += 1) % 2 === 0 ? { status: 503, code: "SlowDown" } : undefined);
        })(),
        "the answer to each first manifest is lost": (() => {
          const seen = new Set<string>();
          return (request: StubRequest) => {
            const isFirst = isManifest(request) && !seen.has(request.key);
            seen.add(request.key);
            return isFirst ? "lost" : undefined;
          };
        })(),
        "manifests are refused ten times": (() => {
          let left = 10;
          return (request: StubRequest) =>
            isManifest(request) && (left -= 1) >= 0 ? { status: 500, code: "InternalError" } : undefined;
        })(),
        "connections end": (() => {
          let count = 0;
          return () => ((count += 1) % 3 === 0 ? "reset" : undefined);
        })(),
      };
      for (const [name, fault] of Object.entries(faults)) {
        it(`archives each parcel once when ${name}`, async () => {
          await withStore(async (place) => {
            const { runner, query, store, close } = await start(place);
            const stub = place.stub ?? assert.fail();
            stub.fault = fault;
            const ids = Array.from({ length: 6 }, (_none, index) => `parcel ${index}`);
            const archived = await Promise.all(ids.map((id) => archive({ runner }, id)));
            stub.fault = () => undefined;
            const rows = await query("SELECT location FROM packages ORDER BY location");
            assert.deepEqual(
              rows.map((row) => row["location"]),
              archived.map(({ path }) => path).toSorted(),
            );
            await close();
            const { database, release } = await store.connect();
            const vault = await openBucketVault(bucketOf(stub.url(prefix), ""), {});
            await tidyBucket(vault, database);
            await vault.close();
            await release();
            assert.deepEqual(
              [...(await place.packages()).keys()].toSorted(),
              archived.map(({ path }) => path).toSorted(),
            );
          });
        });
      }
    }

    if (kind.database === "PostgreSQL") {
      it("archives other parcels while the database refuses the row of one, and then that one", async () => {
        await withStore(async (place) => {
          const refuse = "ALTER TABLE packages ADD CONSTRAINT refused CHECK (transaction_id <> 'refused')";
          const first = await start(place);
          await first.query(refuse);
          const refused = await first.runner.submitMedia(forMessage("refused"), [mediumOf("refused")], null);
          const kept = rejectsWith(refused.end(), "ERR_CANCELLED", "cancelledKept");
          await refused.running?.firstTry;
          const paths = [(await archive(first, "one")).path, (await archive(first, "other")).path];
          // As if the process had ended between the package and its row.
          await first.query("UPDATE jobs SET state = 'sealing' WHERE transaction_id = 'refused'");
          await first.close();
          await kept;
          const second = { ...first, ...(await openArchive("", cloud.client, { store: first.store })) };
          running.push(second);
          const [resumed] = [...second.runner.resume(isMine)];
          paths.push((await archive(second, "third")).path);
          await second.query("ALTER TABLE packages DROP CONSTRAINT refused");
          paths.push((await resumed?.end())?.path ?? assert.fail("no job"));
          resumed?.messageSent();
          paths.push((await archive(second, "last")).path);
          await second.close();
          assert.deepEqual([...(await place.packages()).keys()].toSorted(), paths.toSorted());
          assert.deepEqual(await verify(place), []);
        });
      });

      it("gives a job up whose package the database refuses, and archives its parcel later", async () => {
        await withStore(async (place) => {
          const first = await start(place);
          await first.query(
            "ALTER TABLE packages ADD CONSTRAINT refused CHECK (transaction_id <> 'refused')",
          );
          const more = { giveUpMs: 300 };
          const refused = await first.runner.submitMedia(forMessage("refused", more), [mediumOf("1")], null);
          const error = await rejectsWith(refused.end(), "ERR_STORE", "postgresFailed");
          refused.messageSent(error);
          await until(
            async () => (await first.query("SELECT 1 FROM jobs WHERE state = 'failed'")).length === 1,
            "the job has failed",
          );
          assert.equal((await archive(first, "one")).wasThere, false);
          await first.query("ALTER TABLE packages DROP CONSTRAINT refused");
          assert.equal((await archive(first, "refused")).wasThere, false);
          await first.close();
        });
      });
    }

    if (kind.database === "PostgreSQL" && kind.files === "bucket") {
      it("says of a message that it has to be sent again if a close ends the upload of its media", async () => {
        await withStore(async (place) => {
          const stub = place.stub ?? assert.fail();
          const packages: OpenedPackages[] = [];
          const archives = new Archives({
            openPackages: async (...given) => {
              const one = await openPackages(...given);
              packages.push(one);
              return one;
            },
          });
          const { store } = await place.open();
          const opened = await openArchive("", cloud.client, { store, archives });
          running.push(opened);
          // As `release` does when uploads do not end in time.
          stub.fault = () => {
            packages.forEach((one) => one.abort());
            return undefined;
          };
          const submitting = opened.runner.submitMedia(forMessage("1"), [mediumOf("1")], null);
          await rejectsWith(submitting, "ERR_CANCELLED", "cancelledClose");
        });
      });
    }

    if (kind.database === "PostgreSQL") {
      it("makes one package of a transaction that two computers archive at the same moment", async () => {
        await withStore(async (place) => {
          const workers = [await start(place), await start(place)];
          cloud.sim.cloud.addMedia("twice", { contentType: "image/jpeg", bytes: pictureOf("twice") });
          holdManifests(place.stub, workers.length);
          const archived = await Promise.all(
            workers.map(async ({ runner }) => {
              const submission = await runner.submit(cloud.intentFor("twice"));
              const one = await submission.end();
              submission.messageSent();
              return one;
            }),
          );
          assert.deepEqual(archived.map(({ wasThere }) => wasThere).toSorted(), [false, true]);
          assert.deepEqual([...(await place.packages()).keys()], [archived[0]?.path]);
          assert.equal(archived[0]?.path, archived[1]?.path);
          const [first] = workers;
          assert.equal((await first?.query("SELECT * FROM packages"))?.length, 1);
          assert.deepEqual(await first?.query("SELECT * FROM uploads WHERE job_id IS NOT NULL"), []);
          // The one whose package was given up does not name it in the next one.
          for (const worker of workers) {
            await archive(worker, `next of ${workers.indexOf(worker)}`);
          }
          assert.deepEqual(await verify(place), []);
        });
      });

      if (kind.files === "bucket") {
        it("makes one package of a measurement that two computers archive at the same moment, one of them with its transaction", async () => {
          await withStore(async (place) => {
            const [first, second] = [await start(place), await start(place)];
            cloud.sim.cloud.addMedia("known", { contentType: "image/jpeg", bytes: pictureOf("known") });
            holdManifests(place.stub, 2);
            const measuredBy = {
              id: "dock",
              name: "Dock 4",
              imageIdentifier: "i-1",
              images: [],
              videoAt: null,
            };
            const answer = { raw: `{"id":"known"}`, measurement: `{"length":1}`, measuredBy };
            const submissions = [
              await first.runner.submit(cloud.intentFor("known", answer)),
              await second.runner.submitMedia(
                { ...intentOf("", { origin: null, ...answer }), transactionId: null },
                [mediumOf("known")],
                null,
              ),
            ];
            const archived = await Promise.all(submissions.map((submission) => submission.end()));
            submissions.forEach((submission) => submission.messageSent());
            assert.equal(archived[0]?.path, archived[1]?.path);
            assert.equal((await first.query("SELECT * FROM packages")).length, 1);
            assert.deepEqual(await verify(place), []);
          });
        });
      }

      it("finishes on another computer what one has accepted, and that one disturbs nothing when it goes on", async () => {
        await withStore(async (place) => {
          const [first, second] = [await start(place), await start(place)];
          let packages = 1;
          // The first one goes on when the wait for the second part is over: on a computer that stands still, before anybody else looks.
          const takeFromFirst = async (waitMs: number): ReturnType<typeof first.runner.submitMedia> => {
            const part = { id: `parts after ${waitMs} ms`, index: 0, count: 2 };
            const begun = forMessage(part.id, { sequence: part.id, waitMs, onIncomplete: "keep" });
            const submission = await first.runner.submitMedia(begun, [mediumOf("first part")], part);
            await first.endLease();
            const { count } = await second.archive.takeOver({ node: "node", isMine });
            const [job] = await second.query(`SELECT state FROM jobs WHERE transaction_id = '${part.id}'`);
            // What is archived and not reported is taken over as well: its message may not have been sent.
            if (count === 1 && job?.["state"] !== "archived") {
              return submission;
            }
            await submission.end();
            submission.messageSent();
            for (const resumed of second.runner.resume(isMine)) {
              assert.equal((await resumed.end()).wasThere, false);
              resumed.messageSent();
            }
            packages += 1;
            return await takeFromFirst(10 * waitMs);
          };
          const submission = await takeFromFirst(100);
          const [resumed] = [...second.runner.resume(isMine)];
          const { manifest } = (await resumed?.end()) ?? assert.fail("no job");
          resumed?.messageSent();
          const error = await rejectsWith(submission.end(), "ERR_CANCELLED", "cancelledTaken");
          submission.messageSent(error);
          assert.equal(manifest.items.length, 1);
          assert.equal((await place.packages()).size, packages);
          await until(() => stagedIn(place.stub).length === 0, "nothing is staged");
          await Promise.all([first.close(), second.close()]);
        });
      });
    }
  });
}

/** Lets no manifest arrive before a number of them are on their way: nobody has seen the package of another one by then. */
function holdManifests(stub: BucketStub | undefined, count: number): void {
  const held: (() => void)[] = [];
  if (stub === undefined) {
    return;
  }
  stub.fault = async ({ method, key }) => {
    if (method === "PUT" && key.endsWith("/manifest.json")) {
      const all = new Promise<void>((resolve) => held.push(resolve));
      if (held.length >= count) {
        held.forEach((resolve) => resolve());
      }
      await all;
    }
    return undefined;
  };
}
