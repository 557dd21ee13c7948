import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { copyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { namedVault } from "../../src/vault/open-vault.ts";
import { fillArchive } from "../archive/packages.ts";
import { readZip } from "../archive/read-zip.ts";
import { intentOf, mediumOf, openArchive, pictureOf } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { type BucketServer, s3Servers, useCredentials } from "../support/s3-servers.ts";
import { type BucketStub, type StubRequest, startStub } from "../support/s3-stub.ts";
import { type Served, packagesOf, withPageOf } from "./support.ts";

interface Shown {
  readonly packageId: string;
  readonly location: string;
  readonly hold: { readonly heldAt: string; readonly reason: string } | null;
}

const headers = { "x-user": "Anna" };
const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: ["Anna"] } as const;
/** Larger than what a connection takes while nobody reads. */
const video = Buffer.concat([
  Buffer.from("000000186674797069736f6d0000020069736f6d69736f32", "hex"),
  randomBytes(16 * 1024 * 1024),
]);

/** Larger than what is read at once. */
const blockBytes = 512 * 1024;

describe("the evidence page of packages in a bucket", () => {
  useCredentials();

  /** Serves an archive with the packages `a1` and `a2`, which have two pictures each, and perhaps `v1` with a video. */
  const serve = (
    server: Pick<BucketServer, "url">,
    body: (served: Served, root: string) => Promise<void>,
    hasVideo = false,
  ): Promise<void> =>
    withFolder(async (root) => {
      await fillArchive(root, ["a1", "a2"]);
      if (hasVideo) {
        const { runner, close } = await openArchive(root, undefined);
        const medium = { ...mediumOf("v1"), content: video, contentType: "video/mp4" };
        const submission = await runner.submitMedia(intentOf("v1", { origin: null }), [medium], null);
        await submission.end();
        submission.messageSent();
        await close();
      }
      const url = server.url("dock 4/ü");
      await copyArchive(root, url, {});
      await withPageOf(root, namedVault(url), rules, (served) => body(served, root));
    });
  const search = async ({ ask }: Served, text: string): Promise<readonly Shown[]> => {
    const response = await ask(`api/packages?text=${encodeURIComponent(text)}`, { headers });
    assert.equal(response.status, 200);
    return packagesOf<Shown>(response);
  };
  const pathOf = async (served: Served, id: string): Promise<string> => {
    const [one] = await search(served, id);
    return `api/packages/${encodeURIComponent(one?.packageId ?? "")}`;
  };

  for (const [name, start] of Object.entries(s3Servers)) {
    it(`finds, shows, holds, verifies and exports them: ${name}`, async () => {
      const server = await start();
      try {
        await serve(server, async (served, root) => {
          const { ask, post } = served;
          const found = await search(served, "");
          assert.deepEqual(
            found.map(({ location, hold }) => [location.endsWith("a2"), hold]),
            [
              [true, null],
              [false, null],
            ],
          );
          assert.doesNotMatch(JSON.stringify(found), /s3:|127\.0\.0\.1/);
          const path = await pathOf(served, "a1");
          const picture = await ask(`${path}/files/1`, { headers });
          assert.equal(picture.headers.get("content-type"), "image/jpeg");
          assert.deepEqual(Buffer.from(await picture.arrayBuffer()), pictureOf("a1 1"));
          const part = await ask(`${path}/files/1`, { headers: { ...headers, range: "bytes=4-7" } });
          assert.deepEqual(
            [part.status, Buffer.from(await part.arrayBuffer()).toString("hex")],
            [206, pictureOf("a1 1").subarray(4, 8).toString("hex")],
          );
          const head = await ask(`${path}/files/1`, { headers, method: "HEAD" });
          assert.equal(head.headers.get("content-length"), String(pictureOf("a1 1").length));

          const change = { reason: "claim", heldAt: null };
          const held = (await (await post(`${path}/hold`, change, headers)).json()) as Shown;
          assert.equal(held.hold?.reason, "claim");
          assert.equal((await search(served, "a1"))[0]?.hold?.reason, "claim");
          const settled = { reason: "settled", heldAt: held.hold?.heldAt };
          const released = await post(`${path}/release`, settled, headers);
          assert.equal(((await released.json()) as Shown).hold, null);
          const verified = await post(`${path}/verify`, {}, headers);
          const { verdict, findingCount } = (await verified.json()) as Record<string, unknown>;
          assert.deepEqual([verdict, findingCount], ["ok", 0]);

          const packages = found.map(({ packageId }) => packageId);
          const asked = await post("api/exports", { packages }, headers);
          const { id } = (await asked.json()) as { id: string };
          const zip = await ask(`api/exports/${id}`, { headers });
          assert.equal(zip.status, 200);
          const file = join(root, "export.zip");
          await writeFile(file, Buffer.from(await zip.arrayBuffer()));
          const files = await readZip(file, (one) => one.endsWith(".jpg"));
          const pictures = files.map(({ content }) => content.toString("hex"));
          assert.ok(pictures.includes(pictureOf("a2 0").toString("hex")));
          assert.deepEqual(served.problems, []);
        });
      } finally {
        await server.close();
      }
    });
  }

  describe("of a store that may fail", () => {
    let stub: BucketStub;
    beforeEach(async () => {
      stub = await startStub();
    });
    afterEach(() => stub.close());

    /** The requests for a kind of file since a number of requests, as "GET bytes=0-3". */
    const asked = (since: number, kind: RegExp): string[] =>
      stub.requests
        .slice(since)
        .filter(({ key }: StubRequest) => kind.test(key))
        .map(({ method, headers: { range } }) => [method, range].filter(Boolean).join(" "));

    it("asks the bucket for the part of a video that a player asks for, and for nothing else", () =>
      serve(
        stub,
        async (served) => {
          const path = `${await pathOf(served, "v1")}/files/0`;
          const part = async (range: string): Promise<readonly [number, string | null, string[]]> => {
            const since = stub.requests.length;
            const response = await served.ask(path, { headers: { ...headers, range } });
            const body = Buffer.from(await response.arrayBuffer());
            const [, first, last] =
              /bytes (\d+)-(\d+)/.exec(response.headers.get("content-range") ?? "") ?? [];
            if (first !== undefined) {
              assert.ok(body.equals(video.subarray(Number(first), Number(last) + 1)), range);
            }
            return [response.status, response.headers.get("content-range"), asked(since, /\.mp4$/)];
          };
          const size = video.length;
          const far = `${size - 1_000_000}-${size - 999_000}`;
          assert.deepEqual(await part("bytes=0-3"), [206, `bytes 0-3/${size}`, ["HEAD", "GET bytes=0-3"]]);
          assert.deepEqual(await part(`bytes=${far}`), [
            206,
            `bytes ${far}/${size}`,
            ["HEAD", `GET bytes=${far}`],
          ]);
          assert.deepEqual(await part("bytes=-5"), [
            206,
            `bytes ${size - 5}-${size - 1}/${size}`,
            ["HEAD", `GET bytes=${size - 5}-${size - 1}`],
          ]);
          assert.deepEqual(await part(`bytes=${size}-`), [416, `bytes */${size}`, ["HEAD"]]);
          const since = stub.requests.length;
          const whole = await served.ask(path, { headers });
          assert.ok(Buffer.from(await whole.arrayBuffer()).equals(video));
          await served.ask(path, { headers, method: "HEAD" });
          assert.deepEqual(asked(since, /\.mp4$/), ["GET", "HEAD"]);
        },
        true,
      ));

    it("goes on where the connection to the bucket breaks, up to the end of the part", () =>
      serve(
        stub,
        async (served) => {
          const path = `${await pathOf(served, "v1")}/files/0`;
          let cuts = 2;
          stub.fault = ({ method, key }) =>
            method === "GET" && key.endsWith(".mp4") && cuts-- > 0 ? "cut" : undefined;
          const since = stub.requests.length;
          const response = await served.ask(path, { headers: { ...headers, range: "bytes=1000-1999" } });
          const body = Buffer.from(await response.arrayBuffer());
          assert.ok(body.equals(video.subarray(1_000, 2_000)));
          const ranges = ["1000-1999", "1500-1999", "1750-1999"].map((range) => `GET bytes=${range}`);
          assert.deepEqual(asked(since, /\.mp4$/), ["HEAD", ...ranges]);
          assert.deepEqual(served.problems, []);
        },
        true,
      ));

    it("ends the request to the bucket when whoever watches leaves, also while it sends nothing", () =>
      serve(
        stub,
        async (served) => {
          const path = `${await pathOf(served, "v1")}/files/0`;
          for (const range of ["bytes=0-", undefined]) {
            const left = Promise.withResolvers<void>();
            stub.fault = ({ method, key }) =>
              method === "GET" && key.endsWith(".mp4") ? { left: left.resolve } : undefined;
            const watching = new AbortController();
            const response = await served.ask(path, {
              headers: { ...headers, ...(range === undefined ? {} : { range }) },
              signal: watching.signal,
            });
            // All that has come: now it waits for the rest.
            const reader = response.body?.getReader();
            for (let bytes = 0; bytes < video.length / 2 - blockBytes;) {
              bytes += (await reader?.read())?.value?.length ?? assert.fail("it has ended");
            }
            watching.abort();
            await left.promise;
          }
          stub.fault = () => undefined;
          assert.equal((await search(served, "v1")).length, 1);
        },
        true,
      ));

    it("is not available while the bucket denies access, which only the log says, and then works again", () =>
      serve(stub, async (served) => {
        const path = await pathOf(served, "a1");
        const [one] = await search(served, "a1");
        const requests: readonly (() => Promise<Response>)[] = [
          () => served.ask("api/packages?text=", { headers }),
          () => served.ask(`${path}/files/0`, { headers }),
          () => served.ask(`${path}/files/0`, { headers: { ...headers, range: "bytes=0-1" } }),
          () => served.post(`${path}/hold`, { reason: "claim", heldAt: null }, headers),
          () => served.post(`${path}/verify`, {}, headers),
          async () => {
            const asking = await served.post("api/exports", { packages: [one?.packageId] }, headers);
            return served.ask(`api/exports/${((await asking.json()) as { id: string }).id}`, { headers });
          },
        ];
        for (const [index, request] of requests.entries()) {
          stub.fault = () => ({ status: 403, code: "AccessDenied" });
          const refused = await request();
          assert.deepEqual(
            [refused.status, await refused.json()],
            [503, { reason: "unavailable" }],
            String(index),
          );
          assert.match(
            String(served.problems[index]),
            /The object store denies access to s3:\/\/evidence\/dock 4/,
          );
          stub.fault = () => undefined;
          const again = await request();
          assert.ok(again.ok, String(index));
          await again.arrayBuffer();
        }
        assert.equal(served.problems.length, requests.length);
      }));
  });
});
