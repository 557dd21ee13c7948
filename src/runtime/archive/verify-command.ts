import { packageModule } from "../../package/package-files.ts";

/**
 * Sets the environment variable DIMENSIONER_VERIFY to the command `dimensioner verify` of this installation with the
 * databases of its stores, so that an exec node can run it with a folder of packages. What the administrator has set is left as
 * it is.
 */
export function setVerifyCommand(environment: NodeJS.ProcessEnv, databaseFolder: string): void {
  const script = packageModule("src/cli/dimensioner");
  environment["DIMENSIONER_VERIFY"] ??=
    `"${process.execPath}" "${script}" verify --database "${databaseFolder}"`;
}
