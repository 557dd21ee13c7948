import assert from "node:assert/strict";
import { appendFile, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import * as v from "valibot";
import type { Right } from "../../src/access/logins.ts";
import { type Verification, verification } from "../../src/evidence/page/client/shapes.ts";
import { inEnglish, phrase } from "../../src/errors/interpolation.ts";
import { readReportTexts } from "../../src/evidence/report/report-texts.ts";
import { timestampArchive } from "../../src/index.ts";
import { rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { readManifest } from "../../src/vault/packages/manifest.ts";
import { fillArchive } from "../archive/packages.ts";
import { readZip } from "../archive/read-zip.ts";
import { databaseOf } from "../archive/store.ts";
import { pictureOf } from "../archive/support.ts";
import { png } from "../media/samples.ts";
import { withFolder } from "../media/support.ts";
import { hasOpenSsl, startAuthority } from "../vault/timestamp/authority.ts";
import { fixtures } from "../vault/timestamp/fixtures.ts";
import { type Served, newMemory, packagesOf, withPage } from "./support.ts";

interface Shown {
  readonly packageId: string;
  readonly location: string;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
}

/** Everybody is the same person of the proxy. */
const headers = { "x-user": "Anna" };

function rulesFor(right: Right) {
  const managers = right === "manage" ? ["Anna"] : [];
  return { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers } as const;
}

async function search(served: Served, text: string): Promise<readonly Shown[]> {
  const response = await served.ask(`api/packages?text=${encodeURIComponent(text)}`, { headers });
  assert.equal(response.status, 200, text);
  return packagesOf<Shown>(response);
}

/** When a package was archived. */
async function dayOf(folder: string): Promise<string> {
  const manifest = readManifest(await readFile(join(folder, "manifest.json"), "utf8"));
  return (manifest ?? assert.fail(folder)).times.archived.slice(0, 10);
}

describe("the packages on the evidence page", () => {
  const serve = (
    ids: readonly string[],
    body: (served: Served, root: string, paths: readonly string[]) => Promise<void>,
  ): Promise<void> =>
    withFolder(async (root) => {
      const paths = await fillArchive(root, ids, (id) => ({
        references: {
          transactionReference: `PO-${id}`,
          customReference1: null,
          customReference2: null,
          customReference3: null,
          barcodeReference: `39521234${id}`,
        },
      }));
      await withPage(root, rulesFor("manage"), (served) => body(served, root, paths));
    });

  it("are found by the beginning of what people type, and by a day, the newest first", () =>
    serve(["A1", "A2", "B3"], async (served, root, paths) => {
      const found = async (text: string): Promise<readonly string[]> =>
        (await search(served, text)).map(({ location }) => location);
      const [first = "", second = "", third = ""] = paths;
      assert.deepEqual(await found(""), [third, second, first]);
      assert.deepEqual(await found("po-a"), [second, first]);
      assert.deepEqual(await found(" 39521234b "), [third]);
      assert.deepEqual(await found("a2"), [second], "by the transaction ID");
      const days = await Promise.all(paths.map((path) => dayOf(join(root, path))));
      const [day = ""] = days;
      // Unless the next day began in between, that is all of them.
      const ofDay = paths.filter((_, index) => days[index] === day);
      assert.deepEqual(await found(day), ofDay.toReversed());
      assert.deepEqual(await found("PO-c"), []);
      assert.deepEqual(await found("%"), []);
      assert.deepEqual(await found("x".repeat(5_000)), []);
    }));

  it("are found by their size and weight, also after the index was made again", () =>
    withFolder(async (root) => {
      const measurement = (length: number, width: number, height: number, weight: number): string =>
        JSON.stringify({ length, width, height, weight, dimsUnitOfMeasure: "cm", weightUnitOfMeasure: "kg" });
      const sizes = new Map([
        ["a", measurement(33.5, 21, 12.5, 1.27)],
        ["b", measurement(12.5, 33.5, 21, 4)],
        ["c", measurement(60, 40, 40, 1.27)],
      ]);
      const paths = await fillArchive(root, [...sizes.keys()], (id) => ({
        measurement: sizes.get(id) ?? null,
      }));
      const look = (): Promise<void> =>
        withPage(root, rulesFor("read"), async (served) => {
          const found = async (text: string): Promise<readonly string[]> =>
            (await search(served, text)).map(({ location }) => location);
          const [a, b, c] = paths;
          assert.deepEqual(await found("33.5 × 21 × 12.5 cm"), [b, a]);
          assert.deepEqual(await found("21x33x12"), [b, a]);
          assert.deepEqual(await found("1.27 kg"), [c, a]);
          assert.deepEqual(await found("2.8 lb"), [c, a]);
          assert.deepEqual(await found("34x21x13, 1.3 kg"), [a]);
          assert.deepEqual(await found("33.5x21x12.5 in"), []);
        });
      await look();
      await rm(databaseOf(root));
      await rebuildIndex(root, { database: databaseOf(root) });
      await look();
    }));

  it("are shown without a path of this computer, with their files by number", () =>
    serve(["a1"], async (served, root) => {
      const [one] = await search(served, "PO-a1");
      const id = encodeURIComponent(one?.packageId ?? "");
      const text = await (await served.ask(`api/packages/${id}`, { headers })).text();
      assert.equal(text.includes(root), false);
      const picture = await served.ask(`api/packages/${id}/files/1`, { headers });
      assert.equal(picture.headers.get("content-type"), "image/jpeg");
      assert.match(picture.headers.get("content-security-policy") ?? "", /sandbox/);
      assert.deepEqual(Buffer.from(await picture.arrayBuffer()), pictureOf("a1 1"));
      const first = await served.ask(`api/packages/${id}/files/picture`, { headers });
      assert.deepEqual(Buffer.from(await first.arrayBuffer()), pictureOf("a1 0"));
    }));

  it("get numbers that come later, by which they are found", () =>
    serve(["a1", "a2"], async (served) => {
      const [one] = await search(served, "PO-a1");
      const path = `api/packages/${encodeURIComponent(one?.packageId ?? "")}/numbers`;
      const added = await served.post(path, { number: " 1Z 4711 " }, headers);
      assert.equal(added.status, 200);
      const { numbers } = (await added.json()) as { numbers: readonly { number: string; person: string }[] };
      assert.deepEqual(
        numbers.map(({ number, person }) => [number, person]),
        [["1Z 4711", "Anna"]],
      );
      assert.deepEqual(
        (await search(served, "4711")).map(({ location }) => location),
        [one?.location],
      );
      for (const number of ["", "  ", "\u200b", "\u202e\0", "9".repeat(201), 17]) {
        assert.equal((await served.post(path, { number }, headers)).status, 400, String(number));
      }
      assert.equal((await served.post("api/packages/nobody/numbers", { number: "1" }, headers)).status, 404);
    }));

  it("send the part of a file that a player asks for", () =>
    serve(["a1"], async (served) => {
      const [one] = await search(served, "PO-a1");
      const whole = pictureOf("a1 0");
      const path = `api/packages/${encodeURIComponent(one?.packageId ?? "")}/files/0`;
      const part = async (range: string, more = {}): Promise<[number, string | null, string]> => {
        const response = await served.ask(path, { headers: { ...headers, range, ...more } });
        const body = Buffer.from(await response.arrayBuffer());
        return [response.status, response.headers.get("content-range"), body.toString("hex")];
      };
      const hex = (from: number, to?: number): string => whole.subarray(from, to).toString("hex");
      const size = whole.length;
      assert.deepEqual(await part("bytes=0-3"), [206, `bytes 0-3/${size}`, hex(0, 4)]);
      assert.deepEqual(await part("bytes=4-"), [206, `bytes 4-${size - 1}/${size}`, hex(4)]);
      assert.deepEqual(await part("bytes=-2"), [206, `bytes ${size - 2}-${size - 1}/${size}`, hex(size - 2)]);
      assert.deepEqual(await part("bytes=2-99999"), [206, `bytes 2-${size - 1}/${size}`, hex(2)]);
      assert.deepEqual((await part(`bytes=${size}-`)).slice(0, 2), [416, `bytes */${size}`]);
      for (const ignored of ["bytes=0-1,3-4", "bytes=3-1", "items=0-1", "bytes=-", "bytes=a-b"]) {
        assert.deepEqual(await part(ignored), [200, null, hex(0)], ignored);
      }
      assert.deepEqual(await part("bytes=0-3", { "if-range": '"another"' }), [200, null, hex(0)]);
      const head = await served.ask(path, { method: "HEAD", headers });
      assert.equal(head.headers.get("content-length"), String(size));
      const etag = head.headers.get("etag") ?? "";
      assert.equal((await part("bytes=0-3", { "if-range": etag }))[0], 206);
    }));

  it("reach no file outside of the store, whatever the address, the manifest or a link names", () =>
    serve(["a1"], async (served, root, [path = ""]) => {
      const [one] = await search(served, "PO-a1");
      const id = encodeURIComponent(one?.packageId ?? "");
      for (const place of [
        "-1",
        "2",
        "99999999",
        "manifest.json",
        "..",
        "%2e%2e%2fmanifest.json",
        "0%00",
        "1e0",
        "",
      ]) {
        assert.equal((await served.ask(`api/packages/${id}/files/${place}`, { headers })).status, 404, place);
      }
      for (const other of [
        "..",
        "%2e%2e",
        "..%2f..%2fetc",
        "%00",
        "a".repeat(5_000),
        "'%20OR%201=1",
        "%ff",
      ]) {
        const { status } = await served.ask(`api/packages/${other}/files/0`, { headers });
        assert.ok(status === 404 || status === 400, other);
      }
      const outside = `${root}-outside.jpg`;
      const file = join(root, path, one?.files[0]?.name ?? "");
      await rename(file, outside);
      await symlink(outside, file);
      assert.equal((await served.ask(`api/packages/${id}/files/0`, { headers })).status, 404, "a link");
      await rename(outside, file);

      const manifest = join(root, path, "manifest.json");
      const text = await readFile(manifest, "utf8");
      for (const name of [`../../${basename(outside)}`, "/etc/hostname", "a/../../x"]) {
        await writeFile(manifest, text.replaceAll(one?.files[0]?.name ?? "", name));
        const { status } = await served.ask(`api/packages/${id}/files/0`, { headers });
        assert.equal(status, 404, name);
      }
    }));

  it("are not available without the store's folder, which only the log names", () =>
    serve(["a1"], async (served, root) => {
      await rename(root, `${root}-away`);
      try {
        const response = await served.ask("api/packages?text=", { headers });
        assert.deepEqual([response.status, await response.json()], [503, { reason: "unavailable" }]);
        assert.match(String(served.problems[0]), /ERR_FILE|folder/);
      } finally {
        await rename(`${root}-away`, root);
      }
    }));

  it("say what Verify has found, in words, and one of them at a time", () =>
    serve(["a1"], async (served, root, [path = ""]) => {
      const [one] = await search(served, "PO-a1");
      const id = encodeURIComponent(one?.packageId ?? "");
      type Found = { findingCount: number; findings: { problem: string }[]; reason?: string };
      const verify = async (): Promise<Found> =>
        (await served.post(`api/packages/${id}/verify`, {}, headers)).json() as never;
      assert.equal((await verify()).findingCount, 0);
      await appendFile(join(root, path, one?.files[0]?.name ?? ""), "changed");
      const held = served.hold("verify");
      const running = verify();
      await held.arrived;
      assert.deepEqual(await verify(), { reason: "verifying" });
      held.release();
      const { findingCount, findings } = await running;
      assert.equal(findingCount, 1);
      assert.match(findings[0]?.problem ?? "", /\w/);
    }));

  it("say what time stamp covers them, and who signed it if the store names root certificates", async function () {
    if (!hasOpenSsl) {
      this.skip();
    }
    const authority = await startAuthority();
    try {
      await withFolder(async (root) => {
        await fillArchive(root, ["a1", "a2"]);
        const roots = join(fixtures, "root.crt");
        const made = await timestampArchive(root, {
          database: databaseOf(root),
          server: authority.url,
          roots,
        });
        await fillArchive(root, ["a3"]);
        const verify = async (id: string, rootsFile = roots): Promise<Verification> => {
          let found: unknown;
          await withPage(
            root,
            rulesFor("read"),
            async (served) => {
              const [one] = await search(served, id);
              const path = `api/packages/${encodeURIComponent(one?.packageId ?? "")}/verify`;
              found = await (await served.post(path, {}, headers)).json();
            },
            undefined,
            rootsFile,
          );
          return v.parse(verification, found);
        };
        const { atUtc, signer } = made;
        assert.deepEqual((await verify("a1")).timestamp, {
          atUtc,
          signer,
          root: "Example Root",
          logSize: made.logSize,
        });
        assert.deepEqual((await verify("a1", "")).timestamp, {
          atUtc,
          signer,
          root: null,
          logSize: made.logSize,
        });
        assert.equal((await verify("a3")).timestamp, null);
        await rm(join(root, made.location, "response.tsr"));
        const { timestamp, findings } = await verify("a1");
        assert.deepEqual(
          [timestamp, findings.map(({ kind, path }) => [kind, path])],
          [null, [["timestamp", made.location]]],
        );
      });
    } finally {
      await authority.close();
    }
  });

  it("are exported as a case to the person who has asked for it, once, and whoever may read may export", () =>
    serve(["a1", "a2", "b1"], async (served, root, paths) => {
      const ids = (await search(served, "PO-a")).map(({ packageId }) => packageId);
      const asked = await served.post(
        "api/exports",
        { packages: ids },
        { ...headers, "accept-language": "de" },
      );
      const { id } = (await asked.json()) as { id: string };
      const get = (user: string): Promise<Response> =>
        served.ask(`api/exports/${id}`, { headers: { "x-user": user } });
      assert.equal((await get("Ben")).status, 404, "somebody else's");
      const response = await get("Anna");
      assert.equal(response.status, 200);
      assert.match(response.headers.get("content-disposition") ?? "", /^attachment; filename="evidence-/);
      const content = Buffer.from(await response.arrayBuffer());
      assert.equal(String(content.length), response.headers.get("content-length"));
      const file = join(root, "..", `${id}.zip`);
      await writeFile(file, content);
      const zip = await readZip(file);
      await rm(file);
      const report = zip.find(({ name }) => name === "report.html")?.content.toString();
      assert.match(report ?? "", /<html lang="de"/);
      const [first = "", second = "", third = ""] = paths;
      const has = (path: string): boolean =>
        zip.some(({ name }) => name.includes(`${path.split("/").at(-1)}/manifest.json`));
      assert.deepEqual([has(first), has(second), has(third)], [true, true, false]);
      assert.equal((await get("Anna")).status, 404, "once");
      const none = await served.post("api/exports", { packages: ["none"] }, headers);
      assert.equal(none.status, 404);
      const empty = await served.post("api/exports", { packages: [] }, headers);
      assert.equal(empty.status, 400);
      const foreign = await served.ask("api/exports", {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", origin: "https://evil.example" },
        body: JSON.stringify({ packages: ids }),
      });
      assert.equal(foreign.status, 403);
    }));

  it("are exported for a claim under the heading of the shop, and not with a logo that cannot be used", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["a1"]);
      const logo = `${root}.png`;
      await writeFile(logo, png);
      const heading = { name: "Nord & Co", address: "Kai 4", logo };
      const body = async (served: Served): Promise<void> => {
        const packages = (await search(served, "")).map(({ packageId }) => packageId);
        const ask = (more: object): Promise<Response> =>
          served.post("api/exports", { packages, ...more }, headers);
        const { id } = (await (await ask({ claim: " C-17 " })).json()) as { id: string };
        const zip = await (await served.ask(`api/exports/${id}`, { headers })).arrayBuffer();
        assert.match(
          Buffer.from(zip).toString(),
          /data:image\/png;base64,.*Nord &amp; Co.*Kai 4.*Claim number: <bdi>C-17</s,
        );
        assert.equal((await ask({ claim: "x".repeat(101) })).status, 400);
        assert.equal((await ask({ claim: 17 })).status, 400);
        assert.deepEqual(served.problems, []);
        await rm(logo);
        assert.equal((await ask({})).status, 503, "before anything is downloaded");
        assert.match(String(served.problems), /logo.*there is no such file/);
      };
      await withPage(root, rulesFor("read"), body, newMemory(), "", heading);
    }));

  it("leave nothing running when somebody leaves in the middle of an export", () =>
    serve(["a1"], async (served, root, [path = ""]) => {
      const [one] = await search(served, "PO-a1");
      // More than the sockets and the thread hold, so that the export is still being written.
      await appendFile(join(root, path, one?.files[0]?.name ?? ""), Buffer.alloc(48 * 1024 * 1024));
      const ask = async (): Promise<string> => {
        const asked = await served.post("api/exports", { packages: [one?.packageId] }, headers);
        return ((await asked.json()) as { id: string }).id;
      };
      const leaving = new AbortController();
      const address = `api/exports/${await ask()}`;
      const response = await served.ask(address, { headers, signal: leaving.signal });
      const reader = response.body?.getReader();
      await reader?.read();
      // Only the network is waited for now, so others may verify.
      const verify = (): Promise<Response> =>
        served.post(`api/packages/${encodeURIComponent(one?.packageId ?? "")}/verify`, {}, headers);
      assert.equal((await verify()).status, 200);
      leaving.abort();
      const whole = await served.ask(`api/exports/${await ask()}`, { headers });
      const bytes = (await whole.arrayBuffer()).byteLength;
      assert.equal(String(bytes), whole.headers.get("content-length"));
      assert.deepEqual(served.problems, []);
    }));

  it("stay on hold until somebody with the right releases them", () =>
    serve(["a1"], async (served) => {
      const [one] = await search(served, "PO-a1");
      const id = encodeURIComponent(one?.packageId ?? "");
      type Changed = { readonly hold: { heldAt: string; person: string; reason: string } | null };
      const change = async (what: string, heldAt: string | null): Promise<Changed> =>
        (
          await served.post(`api/packages/${id}/${what}`, { reason: "a claim", heldAt }, headers)
        ).json() as never;
      const { hold } = await change("hold", null);
      assert.deepEqual([hold?.person, hold?.reason], ["Anna", "a claim"]);
      assert.equal((await change("release", hold?.heldAt ?? null)).hold, null);
    }));

  it("says in the reader's language what a package lacks, which its manifest says in English", () =>
    withFolder(async (root) => {
      const at = "2026-11-28T10:00:00.000Z";
      const recording = { transactionReference: "ORDER-1", at, recording: "own", by: null } as const;
      await fillArchive(root, ["m0"], () => ({ recording }));
      await withPage(root, rulesFor("read"), async ({ ask }) => {
        for (const [language, wanted] of [
          ["en", /^the video that was started for this parcel \(recorded, not archived/],
          ["de", /^das für dieses Paket gestartete Video \(aufgenommen, nicht archiviert/],
          ["ja", /動画/],
        ] as const) {
          const found = await ask("api/packages?text=", {
            headers: { ...headers, "accept-language": language },
          });
          const [one] = await packagesOf<{ missing: string[] }>(found);
          assert.match(one?.missing.join() ?? "", wanted);
        }
      });
      const texts = await readReportTexts("de");
      const others = inEnglish(phrase("recordsOther", { count: 12 }));
      assert.match(texts.missing(others), /^die Transaktion .*: 12/);
      assert.equal(texts.missing("image/jpeg"), "image/jpeg");
    }));
});
