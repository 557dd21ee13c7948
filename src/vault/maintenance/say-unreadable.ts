import { systemCode } from "../../media/disk.ts";

/** Why something cannot be read, as a text for people. */
export function sayUnreadable(error: unknown): string {
  const code = systemCode(error);
  return code === "EACCES" || code === "EPERM" ? "no permission to read it" : (code ?? String(error));
}
