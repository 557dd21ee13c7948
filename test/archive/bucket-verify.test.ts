import assert from "node:assert/strict";
import { sha256Of } from "../../src/model/sha256.ts";
import { verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { useCredentials } from "../support/s3-servers.ts";
import {
  type BucketArchive,
  archiveForEach,
  bucketSuites,
  hexNames,
  packagesForBuckets,
  contentOf,
} from "./bucket-archive.ts";
import { verify } from "./packages.ts";

const [first = "", second = "", third = ""] = hexNames.map((name) => `2026-11-02/${name}`);
const begun = "2026-11-02/0d0d0d0d0d0d";

describe("archive: verifying a bucket in which workers archive", () => {
  useCredentials();
  const packages = packagesForBuckets();
  for (const suite of bucketSuites.slice(0, 2)) {
    describe(`in ${suite.name}, with an index in ${suite.database}`, () => {
      let archive: BucketArchive;
      archiveForEach(suite, "parcels", packages, (one) => (archive = one));
      const notes = ({ report }: Awaited<ReturnType<typeof verify>>): string[] =>
        report.notes.map(({ kind, path }) => `${kind} ${path}`);

      it("does not report what is being uploaded, before its manifest is there and before it is listed", async () => {
        const whole = await verify(archive.url, archive.index.given);
        assert.deepEqual([whole.report.verdict, whole.said, notes(whole)], ["ok", [], []]);
        await archive.put(`${begun}/image.jpg`, "half");
        const uploading = await verify(archive.url, archive.index.given);
        assert.deepEqual([uploading.report.verdict, notes(uploading)], ["ok", [`uploads ${begun}`]]);
        const alone = await verify(archive.url, null);
        assert.deepEqual([alone.findings, notes(alone)], [[], [`uploads ${begun}`]]);

        const found = await contentOf(archive.vault, `${third}/manifest.json`);
        const manifest = JSON.parse(String(found)) as object;
        const [row] = await archive.index.run("SELECT store_id FROM store");
        const other = { ...manifest, job: "new", store: row?.["store_id"], items: [] };
        await archive.vault.bucket.remove(`parcels/${begun}/image.jpg`);
        await archive.put(
          `${begun}/manifest.json`,
          JSON.stringify({ ...other, measurement: null, raw: null }),
        );
        const placed = await verify(archive.url, archive.index.given);
        assert.deepEqual(placed.said, [`not-logged ${begun}`, `unlisted ${begun}`]);
        await archive.index.run(`INSERT INTO uploads VALUES ('${begun}', 'new', '2026-11-02T10:00:00.000Z')`);
        const known = await verify(archive.url, archive.index.given);
        assert.deepEqual([known.report.verdict, known.said], ["unchecked", [`not-logged-yet ${begun}`]]);
      });

      it("does not report what is being deleted, but what is lost otherwise", async () => {
        const [image = ""] = (await archive.keys()).filter(
          (key) => key.startsWith(`${first}/`) && key.endsWith(".jpg"),
        );
        const content = await contentOf(archive.vault, image);
        await archive.put(`${second}/hold`, "");
        await archive.put(`${third}/hold`, "");
        await archive.prune();
        await archive.put(image, content);
        const half = await verify(archive.url, archive.index.given);
        assert.deepEqual([half.said, notes(half)], [[], [`uploads ${first}`]]);
        await archive.vault.bucket.remove(`parcels/${second}/manifest.json`);
        const lost = await verify(archive.url, archive.index.given);
        assert.deepEqual(
          lost.findings.map(({ kind, path }) => `${kind} ${path}`),
          [`missing-package ${second}`],
        );
      });

      it("finds in the trash what no log knows", async () => {
        const trash = ".dimensioner-archive/trash";
        const manifest = await contentOf(archive.vault, `${first}/manifest.json`);
        const copyOf = (content: Buffer): Buffer => Buffer.concat([Buffer.from(`${first}\n`), content]);
        await archive.put(`${second}/hold`, "");
        await archive.put(`${third}/hold`, "");
        await archive.prune();
        // What a prune has there while it deletes a package.
        await archive.put(`${trash}/${sha256Of(first)}`, copyOf(manifest));
        assert.deepEqual((await verify(archive.url, archive.index.given)).said, []);
        await archive.put(`${trash}/${sha256Of(first)}`, copyOf(Buffer.concat([manifest, Buffer.from(" ")])));
        await archive.put(`${trash}/letter`, "letter");
        assert.deepEqual(
          (await verify(archive.url, archive.index.given)).said.toSorted(),
          [`stray ${trash}/${sha256Of(first)}`, `stray ${trash}/letter`].toSorted(),
        );
      });

      it("takes where a store has its packages, with the store's own credentials", async () => {
        const names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];
        const before = names.map((variable) => [variable, process.env[variable]]);
        names.forEach((variable) => delete process.env[variable]);
        try {
          const report = await verifyArchive(archive.location, { database: archive.index.given });
          assert.deepEqual([report.verdict, report.packages], ["ok", 3]);
        } finally {
          Object.assign(process.env, Object.fromEntries(before));
        }
      });
    });
  }
});
