import { readScan } from "../../src/scan/read-scans.ts";
import type { Progress } from "../progress.ts";

/** How fast the library reads one kind of code. */
export interface CodeRow {
  /** Node.js and its version. */
  readonly runtime: string;
  readonly kind: string;
  /** Scans per second of processor time. */
  readonly perSecond: number;
}

export interface CodeSizes {
  readonly rounds: number;
  readonly scansEach: number;
}

/** What a warehouse scans, as the scanner sends it. */
const codeKinds: Readonly<Record<string, string>> = {
  "SSCC label": "]C100395212340000004173\r\n",
  "SSCC label, without AIM identifier": "00395212340000004173\r\n",
  "label with five elements": "]C101095011015300031727123110ABC123\x1d21SER-4711\x1d3103001750\r\n",
  "logistic label with six elements":
    "]d200395212340000004173400PO-00417\x1d3302000127331300033533230002103333000125\r\n",
  "GTIN, lot and date": "]C101095011015300031727123110ABC123\r\n",
  "EAN-13": "]E04006381333931\r\n",
  "EAN-13, without AIM identifier": "4006381333931\r\n",
  "GS1 Digital Link": "]Q1https://example.com/01/09506000134352/10/LOT1/21/S-7?17=271231\r\n",
  "UPS, 1Z": "]C01Z879E930346834440\r\n",
  "FedEx, 34 digits": "]C01001921334250001000300779017972697\r\n",
  "USPS IMpb, with routing code": "]C1420023349200190132607600833457\r\n",
  "plain text": "]C0ORDER-2026-004711\r\n",
  "UPS MaxiCode, 15 elements":
    "]U1[)>\x1e01\x1d96841706672\x1d840\x1d001\x1d1Z00004951\x1dUPSN\x1d06X610\x1d159\x1d1234567\x1d1/1\x1d\x1dY\x1d634 ALPHA DR\x1dPITTSBURGH\x1dPA\x1e\x04\r\n",
};

/** Reads each kind again and again. The fastest round counts: other programs can only make a round slower. */
export function measureCodes({ rounds, scansEach }: CodeSizes, progress: Progress): CodeRow[] {
  const today = new Date();
  const best = new Map<string, number>();
  for (let round = 0; round < rounds; round++) {
    progress(`reading codes, round ${round + 1} of ${rounds}`);
    for (const [kind, scan] of Object.entries(codeKinds)) {
      const before = process.cpuUsage();
      for (let count = 0; count < scansEach; count++) {
        readScan(scan, { today });
      }
      const { user, system } = process.cpuUsage(before);
      best.set(kind, Math.max(best.get(kind) ?? 0, (scansEach / (user + system)) * 1e6));
    }
  }
  return [...best].map(([kind, perSecond]) => ({
    runtime: `Node ${process.versions.node}`,
    kind,
    perSecond,
  }));
}
