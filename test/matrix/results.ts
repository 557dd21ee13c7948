import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Count } from "./count.ts";

/** What tries the rows. */
export type Part = "sources" | "nodes";

/** What a run has counted, by the row's title. */
export type Results = Readonly<Record<string, Count>>;

const folder = join(import.meta.dirname, "../../.build/fault-matrix");

/** Keeps what a run has counted for tools/write-faults.ts; of several runs at once the last one stays. */
export async function keepResults(part: Part, results: Results): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${part}.json`);
  const written = `${file}.${process.pid}`;
  await writeFile(written, JSON.stringify(results, null, 2));
  await rename(written, file);
}

export async function readResults(part: Part): Promise<Results> {
  return JSON.parse(await readFile(join(folder, `${part}.json`), "utf8")) as Results;
}
