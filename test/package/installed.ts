import { atEnd } from "../support/at-end.ts";
import { packAndInstall, type Packed } from "./packed.ts";

let shared: Promise<Packed> | undefined;

/**
 * The package as users install it, with the dependencies that package-lock.json names: packed and installed once for all test files of
 * this process, since that takes longer than most tests.
 */
export function installedPackage(): Promise<Packed> {
  return (shared ??= packAndInstall());
}

atEnd(async () => (await shared?.catch(() => undefined))?.remove());
