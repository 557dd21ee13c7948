import type { X509Certificate } from "node:crypto";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase, problemOf, ProblemError } from "../../errors/interpolation.ts";
import { readPem } from "../timestamp/pem.ts";
import { plainDisk } from "../archive-disk.ts";
import { openPlain } from "../packages/package-files.ts";

/** A list of all roots of the web has a quarter of this. */
const mostBytes = 1024 * 1024;

/**
 * Reads the file of the root certificates that signers are checked against; none if the path is blank. Throws
 * ERR_CONFIG if it has none, or cannot be read.
 */
export async function readRoots(path: string | undefined): Promise<readonly X509Certificate[]> {
  if (path === undefined || path.trim() === "") {
    return [];
  }
  try {
    const roots = readPem(await readText(path));
    if (roots.length === 0) {
      throw new ProblemError(phrase("timestampNoRoot"));
    }
    return roots;
  } catch (cause) {
    const facts = { surface: "config", operation: "timestamp", cause } as const;
    throw new DimensionerError("timestampRoots", facts, { path, problem: problemOf(cause) });
  }
}

async function readText(path: string): Promise<string> {
  const file = await openPlain(path, plainDisk);
  if (file === undefined) {
    throw new ProblemError(phrase("fileNone"));
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(mostBytes), 0, mostBytes, 0);
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
}
