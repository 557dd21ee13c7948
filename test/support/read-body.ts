import { buffer } from "node:stream/consumers";
import type { Download } from "../../src/model/download.ts";

/** Waits for a download and reads all of its body. */
export async function readBody(download: Promise<Download>): Promise<Buffer> {
  return buffer((await download).body);
}
