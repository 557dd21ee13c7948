import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import type { VaultLocation } from "../../src/vault/store.ts";
import { readStoreFile, storeFileOf } from "../../src/vault/store-file.ts";
import { readS3Url } from "../../src/vault/s3/bucket-address.ts";
import { png } from "../media/samples.ts";
import { withFolder } from "../media/support.ts";
import { useCredentials } from "../support/s3-servers.ts";
import { startStub } from "../support/s3-stub.ts";
import { openSqlite, packagesForBuckets } from "./bucket-archive.ts";
import { fillArchive } from "./packages.ts";
import { bundleVerb, runChild } from "./processes.ts";
import { databaseOf } from "./store.ts";

const bucket = { kind: "s3", bucket: "evidence" } as const;

describe("archive: a store file", () => {
  const withFile = (content: unknown, body: (file: string, folder: string) => Promise<void>) =>
    withFolder(async (folder) => {
      const file = join(folder, "store.json");
      await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
      await body(file, folder);
    });

  const addresses = [
    "s3://evidence",
    "s3://evidence/dock 4/ü?region=eu-central-1",
    "s3://evi.dence/a/b",
    "s3://evidence/x?endpoint=http://127.0.0.1:9000",
    "s3://evidence/x?endpoint=https://s3.example.com/store/&region=garage&pathStyle=false",
    "s3://evidence/x?endpoint=https://evidence.example.com/evidence",
    "s3://evidence/x?endpoint=https://s3.example.com/evidence&pathStyle=false",
  ];
  for (const url of addresses) {
    it(`leads to the same place again, whatever the environment says: ${url}`, async () => {
      const vault: VaultLocation = {
        kind: "s3",
        address: readS3Url(url, {}),
        credentials: { accessKeyId: "AKIA", secretAccessKey: "classified" },
        workFolder: "/work",
        retainDays: 30,
      };
      const address = readPostgresUrl(
        "postgres://u@db.example.com/packages?sslmode=verify-full",
        "classified",
      );
      const file = storeFileOf(vault, { kind: "postgres", address });
      assert.doesNotMatch(JSON.stringify(file), /classified|AKIA/);
      const before = process.env["AWS_ENDPOINT_URL_S3"];
      process.env["AWS_ENDPOINT_URL_S3"] = "https://elsewhere.example.com";
      try {
        await withFile(file, async (path) => {
          const read = await readStoreFile(path);
          assert.equal(read.database, address.url);
          assert.deepEqual(read.vault, { ...vault, credentials: null, workFolder: "", retainDays: 0 });
          assert.deepEqual(readS3Url(read.address), vault.address);
        });
      } finally {
        delete process.env["AWS_ENDPOINT_URL_S3"];
        Object.assign(process.env, before === undefined ? {} : { AWS_ENDPOINT_URL_S3: before });
      }
    });
  }

  it("names a folder and a database's file, from its own folder if they are relative", async () => {
    const written = storeFileOf(
      { kind: "folder", path: "/srv/archive" },
      { kind: "file", file: "/data/a.sqlite" },
    );
    assert.deepEqual(written, {
      files: { kind: "folder", path: "/srv/archive" },
      database: "/data/a.sqlite",
    });
    await withFile(
      { files: { kind: "folder", path: "packages" }, database: "a.sqlite" },
      async (file, folder) => {
        assert.deepEqual(await readStoreFile(file), {
          vault: { kind: "folder", path: join(folder, "packages") },
          address: join(folder, "packages"),
          database: join(folder, "a.sqlite"),
        });
      },
    );
  });

  const wrong: readonly (readonly [content: unknown, said: RegExp])[] = [
    ["{", /: the content is not JSON$/],
    ["[]", /: files is missing$/],
    ["5", /: the content must be an object$/],
    [{ files: bucket }, /: database is missing$/],
    [{ files: bucket, database: "" }, /: database must not be blank$/],
    [{ files: bucket, database: 5 }, /: database must be a text$/],
    [{ files: { kind: "ftp" }, database: "x" }, /: files\.kind must be “s3” or “folder”$/],
    [{ files: {}, database: "x" }, /: files\.kind must be “s3” or “folder”$/],
    [{ files: { kind: "folder" }, database: "x" }, /: files\.path is missing$/],
    [{ files: { kind: "s3" }, database: "x" }, /: files\.bucket is missing$/],
    [{ files: { ...bucket, bucket: "a/b" }, database: "x" }, /: files\.bucket must be the name of a bucket$/],
    [
      { files: { ...bucket, prefix: "a?endpoint=b" }, database: "x" },
      /: files\.prefix must not contain “\?”$/,
    ],
    [{ files: { ...bucket, prefix: "a/../b" }, database: "x" }, /is not the address of a bucket/],
    [
      { files: { ...bucket, endpoint: "s3.example.com" }, database: "x" },
      /: files\.endpoint must be an http/,
    ],
    [{ files: { ...bucket, pathStyle: "yes" }, database: "x" }, /: files\.pathStyle must be true or false$/],
    [
      { files: { ...bucket, host: "x" }, database: "x" },
      /: files\.host is not known: the fields are kind, bucket, /,
    ],
    [
      { files: bucket, database: "x", retainDays: 5 },
      /: retainDays is not known: the fields are files, database$/,
    ],
    ["[".repeat(30_000) + "]".repeat(30_000), /: it has more than 64 levels of nesting$/],
    [`{"files": "${"x".repeat(65_536)}"}`, /: the content is longer than 64 KB/],
    [`{"files": "${"\u{1F4E6}".repeat(65_536)}"}`, /: the content is longer than 64 KB/],
    ["PK\u0003\u0004", /: this is a ZIP and no store file: extract an export/],
  ];
  for (const [content, said] of wrong) {
    it(`is refused with what is wrong: ${JSON.stringify(content).slice(0, 100)}`, () =>
      withFile(content, async (file) => {
        await assert.rejects(readStoreFile(file), (error: Error) => {
          assert.ok(error.message.startsWith(`the store file ${file}: `));
          assert.match(error.message, said);
          return true;
        });
      }));
  }

  const secrets: readonly unknown[] = [
    { files: { ...bucket, accessKey: "classified" }, database: "x" },
    { files: { ...bucket, secret_access_key: "classified" }, database: "x" },
    { files: { ...bucket, credentials: { accessKeyId: "classified" } }, database: "x" },
    { files: { ...bucket, endpoint: "https://key:classified@s3.example.com" }, database: "x" },
    { files: bucket, database: "postgres://u:classified@db.example.com/packages" },
    { files: bucket, database: "postgres://u@db.example.com/packages?password=classified" },
    { files: bucket, database: "x", databasePassword: "classified" },
    '{"files": classified',
  ];
  for (const content of secrets) {
    it(`is refused without repeating it if it contains a secret: ${JSON.stringify(content)}`, () =>
      withFile(content, async (file) => {
        await assert.rejects(readStoreFile(file), (error: Error) => {
          assert.doesNotMatch(error.message, /classified/);
          assert.match(error.message, /environment|credentials|JSON/);
          return true;
        });
      }));
  }

  it("says so if it is not there", async () => {
    await assert.rejects(
      readStoreFile("/nowhere/store.json"),
      /the store file \/nowhere\/store\.json: ENOENT/,
    );
  });

  describe("on a command line", () => {
    useCredentials();
    const packages = packagesForBuckets();
    const run = async (name: string, ...args: string[]) => runChild(await bundleVerb(name), args);

    it("stands for the bucket and the database of a store", async () => {
      const stub = await startStub();
      const index = await openSqlite();
      const archive = await packages.upload(stub.url("parcels"), index);
      const { location } = archive;
      try {
        const content = storeFileOf(location, { kind: "file", file: index.given });
        await withFile(content, async (file, folder) => {
          const verified = await run("verify", file, "--json");
          assert.deepEqual([verified.code, verified.stderr], [0, ""]);
          const { verdict, store: name, expected } = JSON.parse(verified.stdout);
          assert.deepEqual([verdict, name, expected], ["ok", "s3://evidence/parcels", 3]);
          const other = join(folder, "other.sqlite");
          const rebuilt = await run("rebuild", file, "--database", other);
          assert.equal(rebuilt.stderr, "");
          assert.match(
            rebuilt.stdout,
            /other\.sqlite: a new database lists 3 packages .* of s3:\/\/evidence\/parcels\n$/,
          );
          const pruned = await run("prune", file, "--older-than", "1d", "--json");
          assert.equal(pruned.stderr, "");
          const { deleted, leftovers, leftoversKept } = JSON.parse(pruned.stdout);
          assert.deepEqual([deleted, leftovers, leftoversKept], [0, 0, null]);
        });
      } finally {
        await archive.close();
        await index.close();
        await stub.close();
      }
    });

    it("stands for a folder, also for an export, and not for two places", async () => {
      await withFolder(async (root) => {
        await fillArchive(root, ["m0"]);
        const content = storeFileOf({ kind: "folder", path: root }, { kind: "file", file: databaseOf(root) });
        await withFile(content, async (file, folder) => {
          const commands: readonly (readonly [name: string, ...args: string[]])[] = [
            ["verify", file],
            ["rebuild", file],
            ["export", file, "--by", "all", "--to", folder],
            ["prune", file, "--older-than", "1d"],
          ];
          for (const args of commands) {
            const { code, stderr } = await run(...args);
            assert.deepEqual([code, stderr], [0, ""], args[0]);
          }
          const shop = ["--shop", "Nord", "--shop-address", "Kai 4", "--claim", "C-1"];
          const named = ["--filename", "claim.zip", ...shop, "--logo", join(folder, "logo.png")];
          const asked = () => run("export", file, "--by", "all", "--to", folder, ...named);
          const { code, stderr } = await asked();
          assert.equal(code, 2);
          assert.match(stderr, /logo\.png, cannot be used/);
          await writeFile(join(folder, "logo.png"), png);
          assert.equal((await asked()).code, 0);
          const zip = await readFile(join(folder, "claim.zip"), "utf8");
          assert.match(zip, /data:image\/png.*Nord.*Kai 4.*Claim number: <bdi>C-1</s);
          for (const args of [[file, root], [root, root], [] as string[]]) {
            const { code, stderr } = await run("verify", ...args);
            assert.deepEqual(
              [code, stderr],
              [
                2,
                "dimensioner verify: specify exactly one store: a store file, a folder or s3://bucket/prefix. See dimensioner verify --help.\n",
              ],
            );
          }
        });
      });
    });

    it("prints what pruning has removed in a bucket, or would", async () => {
      const stub = await startStub();
      const index = await openSqlite();
      const archive = await packages.upload(stub.url("parcels"), index);
      try {
        const old = new Date(Date.now() - 2 * 86_400_000);
        const left = "2026-11-02/0d0d0d0d0d0d";
        const headers = { "x-amz-meta-sha256": "x" };
        stub.objects.set(`parcels/${left}/image.jpg`, { body: Buffer.from("x"), headers, storedAt: old });
        const args = ["--older-than", "1d", "--database", index.given];
        const dry = await run("prune", archive.url, ...args, "--dry-run");
        assert.deepEqual([dry.code, dry.stderr], [0, ""]);
        assert.equal(
          dry.stdout,
          `${left}: would be removed: an upload that was never completed\n0 packages would be deleted (0 bytes); 0 on hold, 0 kept, 0 failed\n1 folder that belonged to no package would be removed\n`,
        );
        stub.fault = ({ method }) =>
          method === "DELETE" ? { status: 403, code: "AccessDenied" } : undefined;
        const denied = await run("prune", archive.url, ...args);
        assert.equal(denied.code, 1);
        assert.match(
          denied.stdout,
          /\nwhat belongs to no package was not searched for to the end: The object store denies/,
        );
        stub.fault = () => undefined;
        const done = await run("prune", archive.url, ...args);
        assert.equal(done.code, 0, done.stderr);
        assert.match(done.stdout, /: removed: an upload[^]*\n1 folder that belonged to no package removed\n/);
        assert.ok(!stub.objects.has(`parcels/${left}/image.jpg`));
      } finally {
        await archive.close();
        await index.close();
        await stub.close();
      }
    });
  });
});
