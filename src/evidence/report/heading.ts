import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { ProblemError, field, phrase, problemOf } from "../../errors/interpolation.ts";
import { createFormatEnd, sniffKind } from "../../media/formats.ts";
import { plainDisk } from "../../vault/archive-disk.ts";
import type { ReportHeading } from "../../model/archive-reports.ts";
import { readPlain } from "../../vault/packages/package-files.ts";

/** In characters. */
export const longestClaim = 100;

/** It is in each report of an export. */
const mostLogoKilobytes = 512;

interface Logo {
  readonly contentType: string;
  readonly content: Buffer;
}

/** What is above a report. */
export interface ReadHeading {
  readonly name: string;
  readonly address: string;
  readonly logo: Logo | null;
  /** The number of the claim that the export is for; blank: none. */
  readonly claim: string;
}

/** Reads what reports begin with. Throws ERR_CONFIG for a logo that cannot be used, and ERR_INPUT for a claim that is too long. */
export async function readHeading(
  { name, address = "", logo }: ReportHeading = { name: "" },
  claim = "",
): Promise<ReadHeading> {
  const number = claim.trim();
  if (number.length > longestClaim) {
    const problem = phrase("tooLong", { most: longestClaim });
    const facts = { surface: "store", operation: "export" } as const;
    throw new DimensionerError("inputValue", facts, {
      field: field("claim"),
      value: `${number.slice(0, longestClaim).toWellFormed()}…`,
      problem,
    });
  }
  return {
    name: name.trim(),
    address: address.trim(),
    logo: await readLogo(logo),
    claim: number,
  };
}

/**
 * Reads the file of a logo; null if the path is blank. No link is followed. Throws ERR_CONFIG if it is no whole PNG or JPEG image, is too large,
 * or cannot be read.
 */
export async function readLogo(path: string | undefined): Promise<Logo | null> {
  if (path === undefined || path.trim() === "") {
    return null;
  }
  try {
    const content = await readSmall(path);
    const { contentType, format } = sniffKind(content) ?? {};
    if (contentType === undefined || (format !== "png" && format !== "jpeg")) {
      throw new ProblemError(phrase("logoNoImage"));
    }
    const end = createFormatEnd(format);
    end.update(content);
    const problem = end.problem();
    if (problem !== null) {
      throw new ProblemError(problem);
    }
    return { contentType, content };
  } catch (cause) {
    const facts = { surface: "config", operation: "export", cause } as const;
    const values = { path, problem: problemOf(cause), most: mostLogoKilobytes };
    throw new DimensionerError("reportLogo", facts, values);
  }
}

async function readSmall(path: string): Promise<Buffer> {
  const content = await readPlain(path, plainDisk, mostLogoKilobytes * 1024);
  if (typeof content === "string") {
    throw new ProblemError(
      content === "none" ? phrase("fileNone") : phrase("logoTooLarge", { count: mostLogoKilobytes }),
    );
  }
  return content;
}
