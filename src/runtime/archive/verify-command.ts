import { packageModule } from "../../package/package-files.ts";

/**
 * Sets the environment variable DIMENSIONER_VERIFY to the command that starts `dimensioner-verify` of this installation with the
 * databases of its stores, so that an exec node can run it with a folder of packages. What the administrator has set is left as
 * it is.
 */
export function setVerifyCommand(environment: NodeJS.ProcessEnv, databaseFolder: string): void {
  const verifyScript = packageModule("src/archive/cli/verify-cli");
  environment["DIMENSIONER_VERIFY"] ??=
    `"${process.execPath}" "${verifyScript}" --database "${databaseFolder}"`;
}
