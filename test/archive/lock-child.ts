/** A process of its own that holds the lock of an archive until it is killed. Argument: the archive's root. */
import { Archives } from "../../src/archive/archives.ts";

try {
  await new Archives().open(process.argv[2] ?? "");
  console.log("open");
  setInterval(() => undefined, 1_000);
} catch (error) {
  console.log(String(error));
}
