import { packAndInstall, type Packed } from "./packed.ts";

let packed: Packed | undefined;

// Hooks of the whole run: packing and installing takes longer than most tests. The examples run on the package as users install
// it, with the dependencies that package-lock.json names.
before(async () => {
  packed = await packAndInstall();
  process.env["DIMENSIONER_INSTALLED"] = packed.installed;
});

after(async () => {
  delete process.env["DIMENSIONER_INSTALLED"];
  await packed?.remove();
});

/** The package as it is installed for this run. */
export function installedPackage(): Packed {
  if (packed === undefined) {
    throw new Error("The package is installed before the first test, not before.");
  }
  return packed;
}
