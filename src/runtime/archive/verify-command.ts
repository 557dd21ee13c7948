import { existsSync } from "node:fs";
import { join } from "node:path";

const verifyScript = join(import.meta.dirname, "../../archive/cli/verify-cli.js");

/**
 * Sets the environment variable DIMENSIONER_VERIFY to the command that starts `dimensioner-verify` of this installation with the
 * databases of its stores, so that an exec node can run it with a folder of packages. What the administrator has set is left as
 * it is.
 */
export function setVerifyCommand(environment: NodeJS.ProcessEnv, databaseFolder: string): void {
  if (existsSync(verifyScript)) {
    environment["DIMENSIONER_VERIFY"] ??=
      `"${process.execPath}" "${verifyScript}" --database "${databaseFolder}"`;
  }
}
