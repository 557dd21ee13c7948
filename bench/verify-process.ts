/** Verifies an archive in a process of its own, and sends how long that took. Started by parts/verify.ts. */
import { verifyArchive } from "../src/vault/upkeep/upkeep.ts";

const before = process.cpuUsage();
const startedAt = performance.now();
const { findings, bytes } = await verifyArchive(process.argv[2] ?? "", { mayBlock: true });
const seconds = (performance.now() - startedAt) / 1_000;
const { user, system } = process.cpuUsage(before);
if (findings > 0) {
  throw new Error(`${findings} findings in what the bench has made`);
}
process.send?.({ bytes, seconds, cpuSeconds: (user + system) / 1e6 });
