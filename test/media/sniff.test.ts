import assert from "node:assert/strict";
import { extensionFor, looksLikeHtml, sniffKind } from "../../src/media/formats.ts";
import { bmp, box, ftyp, jpeg, mp4s, png, webp } from "./samples.ts";

describe("the content type by the first bytes", () => {
  const known: [string, Buffer, string, string][] = [
    ["JPEG with JFIF", jpeg, "image/jpeg", "jpg"],
    ["JPEG with Exif", Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 8]), "image/jpeg", "jpg"],
    ["JPEG without either", Buffer.from([0xff, 0xd8, 0xff, 0xdb, 0, 67]), "image/jpeg", "jpg"],
    ["JPEG without anything in it", Buffer.from([0xff, 0xd8, 0xff, 0xd9]), "image/jpeg", "jpg"],
    ["PNG", png, "image/png", "png"],
    ["BMP", bmp, "image/bmp", "bmp"],
    ["WebP", webp, "image/webp", "webp"],
    ["GIF", Buffer.from("GIF89a\x01\0"), "image/gif", "gif"],
    ["GIF of 1987", Buffer.from("GIF87a\x01\0"), "image/gif", "gif"],
    ["AVI", Buffer.from("RIFF\x24\0\0\0AVI LIST", "latin1"), "video/x-msvideo", "avi"],
    ["WebM", Buffer.from("\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webmB", "latin1"), "video/webm", "webm"],
    ["Matroska", Buffer.from("\x1aE\xdf\xa3\xa3B\x82\x88matroskaB", "latin1"), "video/x-matroska", "mkv"],
    ["AVIF", ftyp("avif"), "image/avif", "avif"],
    ["HEIC", ftyp("heic"), "image/heif", "heic"],
    ["HEIF", ftyp("mif1"), "image/heif", "heic"],
    ["TIFF of the other byte order", Buffer.from("MM\0*\0\0\0\x08", "latin1"), "image/tiff", "tif"],
    ["TIFF", Buffer.from("II*\0\x08\0\0\0", "latin1"), "image/tiff", "tif"],
    ["QuickTime", mp4s.quicktime, "video/quicktime", "mov"],
    ["QuickTime without a file type", box("moov", Buffer.alloc(9)), "video/quicktime", "mov"],
    ["QuickTime with free space first", box("wide"), "video/quicktime", "mov"],
    [
      "QuickTime with more than 16 MB of data first",
      Buffer.from([1, 0, 0, 8, 0x6d, 0x64, 0x61, 0x74, 0]),
      "video/quicktime",
      "mov",
    ],
    ["QuickTime with the data first", box("mdat", Buffer.alloc(9)), "video/quicktime", "mov"],
    ["MP4 segment", mp4s.fragments, "video/mp4", "mp4"],
    ...[
      "isom",
      "iso2",
      "iso5",
      "iso6",
      "mp41",
      "mp42",
      "avc1",
      "M4V ",
      "MSNV",
      "dash",
      "3gp5",
      "hvc1",
      "f4v ",
    ].map((brand): [string, Buffer, string, string] => [
      `MP4 of brand ${brand}`,
      ftyp(brand),
      "video/mp4",
      "mp4",
    ]),
  ];
  for (const [name, bytes, contentType, extension] of known) {
    it(`knows ${name}`, () => {
      const kind = sniffKind(bytes);
      assert.deepEqual([kind?.contentType, kind?.extension], [contentType, extension]);
    });
  }

  for (const text of [
    "BMW is a car",
    "Good morning",
    "The wide road",
    "Oh, free beer",
    "{}",
    "[1]",
    "",
    "x",
    "RIFF",
    "an ftypical",
    "GIF88a",
    "RIFF1234WAVE",
    "GIF89a is not there",
    "RIFF 12 WEBP",
    "Das mdat",
  ]) {
    it(`makes no medium of ${JSON.stringify(text)}`, () => {
      assert.equal(sniffKind(Buffer.from(text)), undefined);
    });
  }

  it("chooses the extension by content, then by the announced type, then bin", () => {
    assert.equal(extensionFor(sniffKind(png), "image/jpeg"), "png");
    assert.equal(extensionFor(undefined, "image/jpeg"), "jpg");
    assert.equal(extensionFor(undefined, "video/webm"), "webm");
    assert.equal(extensionFor(undefined, "video/x-m4v"), "m4v");
    assert.equal(extensionFor(undefined, "application/x-unheard-of"), "bin");
    assert.equal(extensionFor(undefined, null), "bin");
  });
});

describe("a web page in place of a medium", () => {
  const pages = [
    "<!DOCTYPE html><html>",
    "<!doctype HTML>",
    "\r\n\t <html lang=en>",
    "<HTML>",
    "<head>",
    "<body class=x>",
    "<script>location=1</script>",
    "<!-- sign in --><html>",
    '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "x">',
    "\ufeff<html>",
  ];
  for (const page of pages) {
    it(`sees ${JSON.stringify(page)}`, () => assert.equal(looksLikeHtml(Buffer.from(page)), true));
  }
  it("sees one in UTF-16", () => {
    const little = Buffer.from("\ufeff<html><body>", "utf16le");
    assert.equal(looksLikeHtml(little), true);
    assert.equal(looksLikeHtml(Buffer.from(little).swap16()), true);
  });
  it("takes no medium and no other text for one", () => {
    for (const bytes of [jpeg, png, bmp, webp, ...Object.values(mp4s)]) {
      assert.equal(looksLikeHtml(bytes), false);
    }
    for (const text of ["<htmlish>", "html", "<svg>", "", "<", "a <html>"]) {
      assert.equal(looksLikeHtml(Buffer.from(text)), false, text);
    }
  });
  it("looks at hostile bytes no longer than at others", () => {
    const before = process.cpuUsage();
    for (const seed of ["<!---->", "<?xml ?>", " ", "<?xml", "<!--"]) {
      looksLikeHtml(Buffer.from(seed.repeat(1024)));
    }
    assert.ok(process.cpuUsage(before).user < 1_000_000, "less than a second of the processor's time");
  });
});
