import assert from "node:assert/strict";
import { numberedName, numbersInUse, safeParts, suggestedName } from "../../src/media/file-names.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { facts } from "./support.ts";

const bytesOf = (name: string): number => Buffer.byteLength(name);

describe("file names from a message", () => {
  const safe: [given: string, parts: string[]][] = [
    ["box.jpg", ["box.jpg"]],
    ["2026/11/box.jpg", ["2026", "11", "box.jpg"]],
    ["2026\\11\\box.jpg", ["2026", "11", "box.jpg"]],
    ["./a/./b//c.jpg", ["a", "b", "c.jpg"]],
    ["a/b/", ["a", "b"]],
    ["scan 1234\r\n", ["scan 1234"]],
    ["a\r\nX: y.jpg", ["a__X_ y.jpg"]],
    ["a\x07b\x9fc.jpg", ["a_b_c.jpg"]],
    ['a<b>c:"|?*.jpg', ["a_b_c_____.jpg"]],
    ["CON.jpg", ["_CON.jpg"]],
    ["aux/nul", ["_aux", "_nul"]],
    ["com1.tar.gz", ["_com1.tar.gz"]],
    ["COM¹", ["_COM¹"]],
    ["console.jpg", ["console.jpg"]],
    ["name.", ["name_"]],
    ["name... ", ["name_"]],
    ["...", ["_"]],
    ["name. . .jpg", ["name. . .jpg"]],
    ["nul .txt", ["_nul .txt"]],
    [`a${". ".repeat(50)}/b`, ["a_", "b"]],
    [".hidden", [".hidden"]],
    ["📦 Größe.jpg", ["📦 Größe.jpg"]],
    ["e\u0301.jpg", ["\u00e9.jpg"]],
    ["half\ud83d.jpg", ["half\ufffd.jpg"]],
    ["%2e%2e%2fx.jpg", ["%2e%2e%2fx.jpg"]],
    [
      ".dimensioner-00000000-0000-0000-0000-000000000000.part",
      ["_.dimensioner-00000000-0000-0000-0000-000000000000.part"],
    ],
  ];
  for (const [given, parts] of safe) {
    it(`makes ${JSON.stringify(given)} safe`, () => assert.deepEqual(safeParts(given, facts), parts));
  }

  const refused = [
    "..",
    "../x.jpg",
    "a/../x.jpg",
    "a\\..\\x.jpg",
    "a/.. /x.jpg",
    "..\\x.jpg",
    "/etc/x.jpg",
    " /x.jpg",
    "\\x.jpg",
    "\\\\server\\share\\x.jpg",
    "//server/share/x.jpg",
    "C:\\x.jpg",
    "c:x.jpg",
    "a\0b.jpg",
    "",
    " ",
    ".",
    ".",
    "a/".repeat(40),
  ];
  for (const given of refused) {
    it(`refuses ${JSON.stringify(given.slice(0, 30))}`, () => {
      assert.throws(
        () => safeParts(given, facts),
        (error) =>
          error instanceof DimensionerError &&
          error.code === "ERR_INPUT" &&
          /^“.*” is not valid for filename: /s.test(error.message),
      );
    });
  }

  it("shows a long or unprintable name in the sentence only in part", () => {
    assert.throws(
      () => safeParts(`\0\u202e${"x".repeat(10_000)}`, facts),
      (error) => error instanceof Error && error.message.length < 200 && !error.message.includes("\u202e"),
    );
  });

  it("cuts 300 characters to what a disk takes, keeps the extension and room for a number", () => {
    for (const character of ["x", "ß", "漢", "📦"]) {
      const [name = ""] = safeParts(`${character.repeat(300)}.jpeg`, facts);
      assert.ok(name.endsWith(`${character}.jpeg`), name.slice(-12));
      assert.ok(bytesOf(name) <= 250 && bytesOf(name) > 245, `${bytesOf(name)}`);
      assert.equal(numberedName(name, 12), `${name.slice(0, -5)} (12).jpeg`);
      assert.ok(bytesOf(numberedName(name, 99_999)) <= 255);
    }
  });

  it("cuts sub-folders, and names without or with an endless extension", () => {
    const [folder = "", name = "", ...rest] = safeParts(
      `${"d".repeat(300)}/${"a".repeat(9)}.${"b".repeat(300)}`,
      facts,
    );
    assert.deepEqual([bytesOf(folder), bytesOf(name), rest], [255, 250, []]);
    assert.equal(bytesOf(safeParts("n".repeat(300), facts)[0] ?? ""), 250);
  });
});

describe("suggested file names", () => {
  it("are one safe part with the extension", () => {
    assert.equal(suggestedName("video", "mp4"), "video.mp4");
    assert.equal(suggestedName("../../etc/passwd", "jpg"), ".._.._etc_passwd.jpg");
    assert.equal(suggestedName("a\\b\0c", "jpg"), "a_b_c.jpg");
    assert.equal(suggestedName("  ", "bin"), "file.bin");
    assert.equal(suggestedName("v1.2", "mp4"), "v1.2.mp4");
    assert.equal(suggestedName("con", "bmp"), "_con.bmp");
    assert.ok(suggestedName("y".repeat(999), "jpg").endsWith("yy.jpg"));
  });
});

describe("numbered names", () => {
  it("carry the number before the extension", () => {
    assert.equal(numberedName("a.jpg", 0), "a.jpg");
    assert.equal(numberedName("a.jpg", 1), "a (1).jpg");
    assert.equal(numberedName("a", 2), "a (2)");
    assert.equal(numberedName(".hidden", 3), ".hidden (3)");
  });

  it("are found again among others", () => {
    const entries = [
      "a.jpg",
      "a (1).jpg",
      "a (12).jpg",
      "a (01).jpg",
      "a (0).jpg",
      "a (x).jpg",
      "b (2).jpg",
      "a (3).png",
      "a (1)",
    ];
    assert.deepEqual(numbersInUse("a.jpg", entries), [0, 1, 12]);
    assert.deepEqual(numbersInUse("a", entries), [1]);
    const [long = ""] = safeParts(`${"x".repeat(300)}.jpg`, facts);
    assert.deepEqual(numbersInUse(long, [numberedName(long, 123_456)]), [123_456]);
  });
});
