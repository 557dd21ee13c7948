import assert from "node:assert/strict";
import { findCheckpoints, readCheckpoint, writeCheckpoint } from "../../../src/vault/log/events.ts";
import {
  GrowingTree,
  LogTree,
  blockLines,
  inclusionPath,
  leafHash,
  nodeHash,
  rootByPath,
} from "../../../src/vault/log/tree.ts";
import { describeDatabases } from "../../database/databases.ts";
import { statementsOf } from "../../database/plans.ts";

/** The root of some lines, at least one. */
function rootOfLines(lines: readonly string[]): Buffer {
  const tree = new GrowingTree();
  lines.forEach((line) => tree.add(leafHash(line)));
  return tree.root();
}

/** The leaves of Certificate Transparency's own tests (certificate-transparency-go, trillian): in hexadecimal. */
const inputs = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const leaves = inputs.map((input) => leafHash(Buffer.from(input, "hex")));

/** The roots of the first of them, from none to all. */
const roots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

/** Inclusion paths of the same tests, by the line (0 is the first one) and the size. */
const paths: readonly (readonly [n: number, size: number, path: readonly string[]])[] = [
  [0, 1, []],
  [
    0,
    8,
    [
      "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
  ],
  [
    5,
    8,
    [
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
      "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
  ],
  [2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]],
  [
    1,
    5,
    [
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
  ],
];

function rootOf(hashes: readonly Buffer[]): Buffer {
  const tree = new GrowingTree();
  hashes.forEach((hash) => tree.add(hash));
  return tree.root();
}

function pathOf(n: number, size: number, hashes: readonly Buffer[]): Promise<Buffer[]> {
  return inclusionPath(n, size, async (start, end) => rootOf(hashes.slice(start, end)));
}

describe("the tree of a log", () => {
  it("has the roots of RFC 6962's test vectors", () => {
    for (const [size, root] of roots.entries()) {
      assert.equal(rootOf(leaves.slice(0, size)).toString("hex"), root, String(size));
    }
  });

  it("has the inclusion paths of RFC 6962's test vectors, and each leads to the root", async () => {
    for (const [n, size, expected] of paths) {
      const path = await pathOf(n, size, leaves);
      assert.deepEqual(
        path.map((hash) => hash.toString("hex")),
        expected,
        `${n} of ${size}`,
      );
    }
  });

  it("leads from each line of each size to the root, and from nothing else", async () => {
    const hashes = Array.from({ length: 40 }, (_, n) => leafHash(String(n)));
    for (let size = 1; size <= hashes.length; size++) {
      const root = rootOf(hashes.slice(0, size));
      for (let n = 0; n < size; n++) {
        const path = await pathOf(n, size, hashes);
        const leaf = hashes[n] ?? assert.fail();
        assert.deepEqual(rootByPath(leaf, n, size, path), root, `${n} of ${size}`);
        assert.equal(rootByPath(leaf, n, size, [...path, root]), undefined);
        assert.notDeepEqual(rootByPath(leafHash("other"), n, size, path), root);
        assert.notDeepEqual(rootByPath(leaf, n === 0 ? size : n - 1, size, path), root);
        if (path.length > 0) {
          assert.notDeepEqual(rootByPath(leaf, n, size, path.slice(1)), root);
        }
      }
    }
    assert.equal(rootByPath(leafHash(""), 1, 1, []), undefined);
  });

  it("is the same from blocks of lines", () => {
    const lines = Array.from({ length: blockLines * 3 + 5 }, (_, n) => `line ${n}`);
    const tree = new GrowingTree();
    for (let block = 0; block < 3; block++) {
      tree.add(rootOfLines(lines.slice(block * blockLines, (block + 1) * blockLines)), blockLines);
    }
    lines.slice(3 * blockLines).forEach((line) => tree.add(leafHash(line)));
    assert.deepEqual(tree.root(), rootOfLines(lines));
    assert.equal(tree.size, lines.length);
  });

  it("tells a node from a line", () => {
    const [one, other] = [leafHash("a"), leafHash("b")];
    assert.notDeepEqual(leafHash(Buffer.concat([one, other])), nodeHash(one, other));
  });
});

describe("a checkpoint", () => {
  // The body of the example of c2sp.org/tlog-checkpoint, with the origin of a store.
  const root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
  const text = `dimensioner-archive/store-1\n20852163\n${root}\n`;
  const checkpoint = { store: "store-1", size: 20_852_163, root: Buffer.from(root, "base64") };

  it("is three lines, as C2SP's tlog-checkpoint has them", () => {
    assert.equal(writeCheckpoint(checkpoint), text);
    assert.deepEqual(readCheckpoint(text), checkpoint);
  });

  it("is read with signatures behind it, and with the line ends of an e-mail", () => {
    assert.deepEqual(
      readCheckpoint(
        `${text}\n— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n`,
      ),
      checkpoint,
    );
    assert.deepEqual(readCheckpoint(text.replaceAll("\n", "\r\n")), checkpoint);
  });

  it("is found in an e-mail, and several in one file", () => {
    const quoted = text.replaceAll(/^(?=.)/gm, "> ");
    const damaged = text.replace("20852163", "x");
    assert.deepEqual(findCheckpoints(`Hello\r\n\r\n${quoted}${damaged}${text}Regards`), [
      checkpoint,
      undefined,
      checkpoint,
    ]);
    assert.deepEqual(findCheckpoints("Hello"), []);
  });

  it("is not anything else", () => {
    for (const other of [
      "",
      text.replace("dimensioner-archive/", "example.com/"),
      text.replace("20852163", "020852163"),
      text.replace("20852163", "-1"),
      text.replace("20852163", "1e3"),
      text.replace(root, root.slice(4)),
      text.replace(root, "AAAA"),
    ]) {
      assert.equal(readCheckpoint(other), undefined, other);
    }
  });
});

describeDatabases("a checkpoint of a log in a database", (open) => {
  it("is made from all lines each time where none is signed, and writes only what differs", async () => {
    const test = await open();
    const lines = 9 * blockLines + 7;
    await test.database.transaction([
      {
        sql: `WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n < ${lines - 1})
          INSERT INTO log (n, what, writer, line) SELECT n, 'archived', 'own', 'line ' || n FROM i`,
      },
      { sql: `UPDATE log_head SET size = ${lines}` },
    ]);
    const expected = rootOfLines(Array.from({ length: lines }, (_, n) => `line ${n}`));
    const written = async (): Promise<number> => {
      const given = await statementsOf(test, async (database) => {
        const { root } = await new LogTree(database).checkpointOf("store");
        assert.deepEqual(root, expected);
      });
      return given.filter(({ sql }) => sql.startsWith("INSERT")).length;
    };
    assert.deepEqual([await written(), await written()], [9, 0]);
    await test.database.transaction([{ sql: "UPDATE log_blocks SET root = '00' WHERE block = 5" }]);
    assert.deepEqual([await written(), await written()], [1, 0]);
    await test.close();
  });
});
