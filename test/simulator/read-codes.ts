import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { prepareZXingModule, readBarcodes } from "zxing-wasm/reader";

const wasm = fileURLToPath(import.meta.resolve("zxing-wasm/reader/zxing_reader.wasm"));
prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(wasm)).buffer } });

/**
 * All codes in a picture as a scanner sends them, with their AIM identifiers in front and in their order, by ZXing: it knows
 * nothing of this package, nor of bwip-js, which has drawn the codes.
 */
export async function readCodes(picture: Uint8Array): Promise<string[]> {
  const codes = await readBarcodes(picture);
  return codes.map(({ bytesECI }) => Buffer.from(bytesECI).toString("latin1")).toSorted();
}
