import assert from "node:assert/strict";
import type { Part, Submission, JobRunner } from "../../src/jobs/runner.ts";
import type { GivenMedium } from "../../src/jobs/intake.ts";
import type { Intent, MeasuredBy } from "../../src/vault/packages/intent.ts";
import { withFolder } from "../media/support.ts";
import { intentOf, openArchive, pictureOf, readPackages, sha256Of, until } from "./support.ts";

/** What a message says about its parcel. */
interface Parcel {
  readonly transactionId: string | null;
  readonly reference?: string | null;
  readonly measured?: readonly [device: string, imageIdentifier: string];
}

const part = (index: number, count = 3): Part => ({ id: "S", index, count });

function submit(runner: JobRunner, parcel: Parcel, picture: string, of: Part): Promise<Submission> {
  const { transactionId, reference = null, measured } = parcel;
  const base = intentOf(transactionId ?? "none");
  const medium: GivenMedium = {
    content: pictureOf(picture),
    contentType: "image/jpeg",
    contentId: null,
    description: null,
    filename: null,
  };
  return runner.submitMedia(
    {
      ...base,
      origin: null,
      transactionId,
      references: { ...base.references, transactionReference: reference },
      measuredBy: measured === undefined ? null : measuredBy(...measured),
      waitMs: 60_000,
      sequence: of.id,
    },
    [medium],
    of,
  );
}

function measuredBy(id: string, imageIdentifier: string): Intent["measuredBy"] {
  return { id, name: id, imageIdentifier, images: [], videoAt: null } satisfies MeasuredBy;
}

/** The packages' pictures by transaction. */
async function picturesIn(root: string): Promise<(readonly [string | null, readonly string[]])[]> {
  const packages = [...(await readPackages(root)).values()];
  return packages
    .map(({ transactionId, items }) => [transactionId, items.map(({ sha256 }) => sha256)] as const)
    .toSorted();
}

const hashes = (...pictures: string[]): string[] => pictures.map((text) => sha256Of(pictureOf(text)));

describe("archive: a sequence over several parcels", () => {
  it("makes one package of each parcel, complete without the others, and whichever comes first", async () => {
    for (const isAtOnce of [false, true]) {
      await withFolder(async (root) => {
        const { runner, close } = await openArchive(root, undefined);
        const ids = ["1001", "1002", "1003"];
        const send = (id: string): Promise<Submission> =>
          submit(runner, { transactionId: id }, id, part(ids.indexOf(id)));
        const end = async (submission: Submission): Promise<void> => {
          assert.equal((await submission.end()).complete, true);
          assert.deepEqual([submission.sendsMessage, submission.isOfSequence], [true, false]);
          submission.messageSent();
        };
        if (isAtOnce) {
          for (const submission of await Promise.all(ids.map(send))) {
            await end(submission);
          }
        } else {
          const first = await send("1001");
          await until(() => [...runner.jobs][0]?.state === "waiting", "it waits for the others");
          await end(await send("1002"));
          await end(first);
          // Nothing of the sequence is open any more.
          await end(await send("1003"));
        }
        assert.deepEqual(
          await picturesIn(root),
          ids.map((id) => [id, hashes(id)]),
        );
        await close();
      });
    }
  });

  const reference = "ORDER-1";
  const measured = ["dock", "image-1"] as const;
  const cases: readonly { readonly what: string; readonly one: Parcel; readonly two: Parcel }[] = [
    {
      what: "references",
      one: { transactionId: null, reference },
      two: { transactionId: null, reference: "ORDER-2" },
    },
    {
      what: "measurements, whatever their references",
      one: { transactionId: null, reference, measured },
      two: { transactionId: null, reference, measured: ["dock", "image-2"] },
    },
    {
      what: "devices",
      one: { transactionId: null, measured },
      two: { transactionId: null, measured: ["gate", "image-1"] },
    },
  ];
  for (const { what, one, two } of cases) {
    it(`tells parcels apart by their ${what}`, async () => {
      await withFolder(async (root) => {
        const { runner, close } = await openArchive(root, undefined);
        const first = await submit(runner, one, "a", part(0, 2));
        const second = await submit(runner, two, "b", part(1, 2));
        const ends = [await first.end(), await second.end()];
        assert.deepEqual(
          ends.map(({ manifest }) => manifest.items.map(({ sha256 }) => sha256)),
          [hashes("a"), hashes("b")],
        );
        await close();
      });
    });
  }

  const same: readonly (readonly [Parcel, Parcel])[] = [
    [
      { transactionId: "1", reference, measured },
      { transactionId: "1", reference: "PAGE-2", measured: ["gate", "image-2"] },
    ],
    [
      { transactionId: "1", reference, measured },
      { transactionId: null, reference: "PAGE-2", measured },
    ],
    [
      { transactionId: "1", reference },
      { transactionId: null, reference },
    ],
    [{ transactionId: "1" }, { transactionId: null, measured }],
  ];
  it("keeps together what may be of one parcel", async () => {
    for (const [one, two] of same) {
      await withFolder(async (root) => {
        const { runner, close } = await openArchive(root, undefined);
        const first = await submit(runner, one, "a", part(0, 2));
        const second = await submit(runner, two, "b", part(1, 2));
        await Promise.all([first.end(), second.end()]);
        assert.equal(second.isOfSequence, true);
        assert.deepEqual(await picturesIn(root), [["1", hashes("a", "b")]]);
        await close();
      });
    }
  });

  it("also does so after a restart, and lets no part go that has joined before", async () => {
    await withFolder(async (root) => {
      const before = await openArchive(root, undefined);
      await submit(before.runner, { transactionId: "1001" }, "a", part(0, 4));
      await submit(before.runner, { transactionId: "1001" }, "b", part(1, 4));
      await before.close();
      const after = await openArchive(root, undefined);
      const [first = assert.fail()] = [...after.runner.resume(() => true)];
      const other = await submit(after.runner, { transactionId: "1002" }, "c", part(2, 4));
      const ends = [await first.end(), await other.end()];
      assert.deepEqual(
        ends.map(({ complete }) => complete),
        [true, true],
      );
      assert.deepEqual(await picturesIn(root), [
        ["1001", hashes("a", "b")],
        ["1002", hashes("c")],
      ]);
      await after.close();
    });
  });
});
