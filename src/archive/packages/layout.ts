import { numberedName, safeParts } from "../../media/file-names.ts";
import { diskFacts } from "../archive-disk.ts";

/** What a layout can be made of. */
export interface LayoutValues {
  /** UTC, YYYY-MM-DD. */
  readonly date: string;
  readonly reference: string | null;
  readonly transactionId: string;
  readonly device: string | null;
}

const longestValue = 200;

/**
 * The package's folder, one safe name a part. Values never make a part of their own: a slash in a reference becomes an
 * underscore, and a part never begins with a dot, so that nothing climbs up or lands among the archive's own files.
 */
export function packageFolder(layout: string, values: LayoutValues): string[] {
  const parts = layout.split(/[/\\]/).filter((part) => part.trim() !== "");
  const filled = parts.map((part) => {
    const name = part.replace(/\{(\w+)\}/g, (_mark, token: string) => valueOf(token, values));
    return name.trim().replace(/^\.+/, "_");
  });
  return safeParts(filled.join("/"), diskFacts);
}

/** The package's folder when that of its own name is taken. */
export function numberedFolder(name: string, number: number): string {
  // Everything is the name here: "ORDER-1.5" has no extension.
  return number === 0 ? name : numberedName(`${name}.`, number).replace(/^(.*) \((\d+)\)\.$/s, "$1 ($2)");
}

function valueOf(token: string, { date, reference, transactionId, device }: LayoutValues): string {
  const values: Readonly<Record<string, string | null>> = {
    date,
    transactionId,
    reference: reference ?? "no-reference",
    device: device ?? "no-device",
  };
  const text = (values[token] ?? "").replace(/[/\\:*?"<>|\p{Cc}]/gu, "_").trim();
  // The rest is in the manifest; half a character at the end would be made whole by the disk.
  return text === "" ? "_" : text.slice(0, longestValue).toWellFormed();
}
