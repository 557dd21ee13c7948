import assert from "node:assert/strict";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ExportPackagesOptions, exportPackages } from "../../src/index.ts";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { png } from "../media/samples.ts";
import { withFolder } from "../media/support.ts";
import { copiesOfArchive } from "./packages.ts";
import { readZip } from "./read-zip.ts";
import { databaseOf } from "./store.ts";

const picture = join(import.meta.dirname, "..", "..", "src", "simulator", "catalogue", "cube.color.jpg");
async function withZone<T>(zone: string, work: () => Promise<T>): Promise<T> {
  const before = process.env["TZ"];
  process.env["TZ"] = zone;
  try {
    return await work();
  } finally {
    if (before === undefined) {
      delete process.env["TZ"];
    } else {
      process.env["TZ"] = before;
    }
  }
}

describe("archive: the reports of an export for a customer", () => {
  const archive = copiesOfArchive(["m0", "m1"]);

  async function reports(
    root: string,
    to: string,
    more: Partial<ExportPackagesOptions> = {},
  ): Promise<string[]> {
    const options = { database: databaseOf(root), by: "all", to } as const;
    const { path } = await exportPackages(root, { ...options, ...more });
    return (await readZip(path))
      .filter(({ name }) => name.endsWith(".html"))
      .map(({ content }) => content.toString());
  }

  it("begin with the shop and the number of the claim", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const jpeg = await readFile(picture);
        for (const [type, content] of [
          ["image/png", png],
          ["image/jpeg", jpeg],
        ] as const) {
          // Its content says what it is.
          const logo = join(to, "logo");
          await writeFile(logo, content);
          const heading = { name: "Müller & <Söhne>", address: "Kai 4, 20457 Hamburg", logo };
          const made = await reports(root, to, { heading, claim: " C-2026/17 " });
          assert.equal(made.length, 3);
          for (const one of made) {
            assert.ok(one.includes(`src="data:${type};base64,${content.toString("base64")}"`));
            assert.match(
              one,
              /Müller &amp; &lt;Söhne&gt;.*Kai 4, 20457 Hamburg.*Claim number: <bdi>C-2026\/17</s,
            );
          }
        }
        for (const one of await reports(root, to, { heading: { name: " " }, claim: "" })) {
          assert.doesNotMatch(one, /class="shop"|Claim number/);
        }
      }),
    ));

  it("are not made with a logo that is none, or a claim that is too long", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const logo = join(to, "logo.png");
        const refused = async (more: Partial<ExportPackagesOptions>): Promise<string> => {
          try {
            await reports(root, to, more);
          } catch (error) {
            return isDimensionerError(error) ? `${error.code} ${error.message}` : String(error);
          }
          return "made";
        };
        const withLogo = async (content: Uint8Array | string | undefined): Promise<string> => {
          if (content !== undefined) {
            await writeFile(logo, content);
          }
          return refused({ heading: { name: "A", logo } });
        };
        assert.match(
          await withLogo(undefined),
          /^ERR_CONFIG .*logo\.png, cannot be used: there is no such file/,
        );
        assert.match(await withLogo("<svg/>"), /^ERR_CONFIG .* neither a PNG nor a JPEG/);
        assert.match(await withLogo("GIF89a"), /^ERR_CONFIG .* neither a PNG nor a JPEG/);
        assert.match(await withLogo(""), /^ERR_CONFIG .* neither a PNG nor a JPEG/);
        assert.match(await withLogo(png.subarray(0, -4)), /^ERR_CONFIG .*cannot be used/);
        const large = Buffer.concat([png, Buffer.alloc(512 * 1024 + 1 - png.length)]);
        assert.match(await withLogo(large), /^ERR_CONFIG .*more than 512 kB/);
        await writeFile(logo, png);
        const link = join(to, "link.png");
        await symlink(logo, link);
        const heading = { name: "A", logo: link };
        assert.match(await refused({ heading }), /^ERR_CONFIG .*or it is a link or no regular file/);
        assert.match(await refused({ claim: "x".repeat(101) }), /^ERR_INPUT .*longer than 100 characters/);
        assert.equal(await refused({ claim: "x".repeat(100) }), "made");
      }),
    ));

  it("say times in UTC also in the zone of the computer, and nothing more where that is UTC", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const said = (zone: string) => withZone(zone, () => reports(root, to));
        const pattern =
          /(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[.\d]* UTC \((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC([+-]\d\d:\d\d)\)/g;
        for (const [zone, offset, minutes] of [
          ["Asia/Kathmandu", "+05:45", 345],
          ["America/Phoenix", "-07:00", -420],
        ] as const) {
          for (const one of await said(zone)) {
            const text = one.replace(/<[^>]*>/g, "");
            const times = [...text.matchAll(pattern)];
            assert.ok(times.length >= 3, one.slice(0, 200));
            for (const [, utc = "", local = "", east] of times) {
              assert.equal(east, offset);
              assert.equal((Date.parse(`${local}Z`) - Date.parse(`${utc}Z`)) / 60_000, minutes);
            }
            assert.equal(text.match(/\d UTC(?![+-]| \()/g), null, "no time is in UTC only");
            assert.match(one, /Times in parentheses are in the time zone of the exporting computer/);
          }
        }
        for (const one of await said("UTC")) {
          assert.doesNotMatch(one, /UTC \(|Times in parentheses/);
        }
      }),
    ));
});
