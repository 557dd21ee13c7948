import assert from "node:assert/strict";

/** Reads CSV by RFC 4180, strictly and without code of the writer: rows by the names in the first line. */
export function parseTable(bytes: Buffer): Readonly<Record<string, string>>[] {
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
  const text = bytes.subarray(3).toString("utf8");
  const lines: string[][] = [];
  let cells: string[] = [];
  for (let at = 0; at < text.length;) {
    const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y;
    cell.lastIndex = at;
    const [all, quoted, plain = "", end] = cell.exec(text) ?? assert.fail(text.slice(at, at + 80));
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === "\r\n") {
      lines.push(cells);
      cells = [];
    }
    at += all.length;
  }
  const [names = [], ...rows] = lines;
  return rows.map((row) => {
    assert.equal(row.length, names.length);
    return Object.fromEntries(row.map((cell, index) => [names[index] ?? "", cell]));
  });
}
