import { numberedName, safeParts } from "../../media/file-names.ts";
import { visibleText } from "../../rules/visible-text.ts";
import { diskFacts, stateFolderName } from "../archive-disk.ts";

/** The values for the tokens of a layout. */
export interface LayoutValues {
  /** UTC, YYYY-MM-DD. */
  readonly date: string;
  readonly reference: string | null;
  readonly transactionId: string;
  readonly device: string | null;
}

const longestValue = 200;

/**
 * The folder of a package, one safe name for each part. A value never becomes several parts: a slash in a reference
 * becomes an underscore. No part begins with a dot, so that nothing leads upwards or into the archive's own files.
 */
export function packageFolder(layout: string, values: LayoutValues): string[] {
  const parts = layout.split(/[/\\]/).filter((part) => part.trim() !== "");
  const filled = parts.map((part) => {
    const name = part.replace(/\{(\w+)\}/g, (_mark, token: string) => valueOf(token, values));
    return name.trim().replace(/^\.+/, "_");
  });
  return safeParts(filled.join("/"), diskFacts);
}

/** The folder of a package if its own name is taken. */
export function numberedFolder(name: string, number: number): string {
  // The whole text is the name: "ORDER-1.5" has no extension.
  return number === 0 ? name : numberedName(`${name}.`, number).replace(/^(.*) \((\d+)\)\.$/s, "$1 ($2)");
}

/** Those entries of a folder that are this name with or without a number, in the order of the numbers. */
export function foldersInUse(name: string, entries: readonly string[]): string[] {
  // Some disks return names in another normal form.
  const there = new Set(entries.map((entry) => entry.normalize("NFC")));
  const numbers = [...there].flatMap((entry) => Number(/ \((\d{1,6})\)$/.exec(entry)?.[1] ?? 0));
  const inUse = [0, ...numbers.toSorted((one, other) => one - other)].map((number) =>
    numberedFolder(name, number),
  );
  return [...new Set(inUse)].filter((entry) => there.has(entry.normalize("NFC")));
}

function valueOf(token: string, { date, reference, transactionId, device }: LayoutValues): string {
  const values: Readonly<Record<string, string | null>> = {
    date,
    transactionId,
    reference: reference ?? "no-reference",
    device: device ?? "no-device",
  };
  const text = visibleText((values[token] ?? "").replace(/[/\\:*?"<>|\p{Cc}]/gu, "_")).trim();
  // The full value is in the manifest. Half of a surrogate pair at the end would be replaced by the disk.
  return text === "" ? "_" : text.slice(0, longestValue).toWellFormed();
}

/** The last part of the location of a package in a bucket: so much is random that no two packages have the same one. */
const packageName = /^[0-9a-f]{12}$/;

/** Whether a package may have been uploaded to a location. */
export function isUploadLocation(location: string): boolean {
  return packageName.test(location.split("/").at(-1) ?? "") && isLocation(location);
}

/** Whether a text names a folder below that of the packages, which is not the archive's own one. */
export function isLocation(text: string): boolean {
  const parts = text.split("/");
  return parts[0] !== stateFolderName && parts.every((part) => !/^\.{0,2}$|[\\\0]/.test(part));
}
