import { randomUUID } from "node:crypto";
import { extname } from "node:path";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { field } from "../errors/interpolation.ts";
import { fileNameProblem, partsOf } from "../rules/names.ts";
import { errorFacts, type TransferFacts } from "./disk.ts";

/** What every file system in use takes as one name, in bytes of UTF-8. */
const nameBytes = 255;
/** Kept free for " (12)", so that a second file of the same name has the same beginning. */
const numberBytes = Buffer.byteLength(" (12)");
const longestExtensionBytes = 32;

/** Names of files that are being written; nothing else may be called that. */
export const partName = /^\.dimensioner-[0-9a-f-]{36}\.(?:part|name)$/i;

/** The first half of every unfinished file's name tells which process writes it. */
const ownBeginning = `.dimensioner-${randomUUID().slice(0, 18)}`;

/** A name for a file that is about to be written. */
export function newPartName(): string {
  return `${ownBeginning}${randomUUID().slice(18)}.part`;
}

/** True for the name of a file that this very process writes, or has failed to remove. */
export function isOwnPart(name: string): boolean {
  return name.startsWith(ownBeginning);
}

/** What Windows, macOS or a file share refuses in a name, and control characters. */
const unsafeCharacter = /[/\\?<>:*|"\p{Cc}]/gu;
const windowsReserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(?:\.|$)/i;

/**
 * The parts of a name that a message gave, each safe to create: sub-folders first, the file's name last. Throws
 * ERR_INPUT for what is absolute, climbs up, or names nothing.
 */
export function safeParts(filename: string, facts: TransferFacts): string[] {
  const problem = fileNameProblem(filename);
  if (problem !== null) {
    throw new DimensionerError("inputValue", errorFacts(facts, facts.surface), {
      field: field("filename"),
      value: shown(filename),
      problem,
    });
  }
  const named = partsOf(filename);
  return named.map((part, index) => safeName(part, index === named.length - 1 ? numberBytes : 0));
}

/** One safe file name from a base that is not given by a person, and an extension. */
export function suggestedName(base: string, extension: string): string {
  return safeName(`${base.trim() || "file"}.${extension}`, numberBytes);
}

/** The name with a number before its extension, as file managers write it; 0 is the name itself. */
export function numberedName(name: string, number: number): string {
  if (number === 0) {
    return name;
  }
  const { stem, extension } = split(name);
  const tail = ` (${number})${extension}`;
  return cut(stem, nameBytes - Buffer.byteLength(tail)) + tail;
}

/** The numbers that `entries` of a folder hold of this name, 0 for the name itself. */
export function numbersInUse(name: string, entries: readonly string[]): number[] {
  const { extension } = split(name);
  return entries.flatMap((entry) => {
    if (entry === name) {
      return [0];
    }
    if (!entry.endsWith(`)${extension}`)) {
      return [];
    }
    const number = Number(/ \(([1-9]\d{0,8})\)$/.exec(entry.slice(0, entry.length - extension.length))?.[1]);
    return numberedName(name, number) === entry ? [number] : [];
  });
}

function safeName(raw: string, reservedBytes: number): string {
  // What the disk would make of half a character is made of it here, so that the name in the answer is the disk's.
  const wellFormed = Buffer.from(raw.normalize("NFC")).toString();
  const { stem, extension } = split(wellFormed);
  const name = cut(stem, nameBytes - reservedBytes - Buffer.byteLength(extension)) + extension;
  const free = windowsReserved.test(name) || partName.test(name) ? `_${name}` : name;
  return withSafeEnd(cut(free.replace(unsafeCharacter, "_"), nameBytes));
}

/** Windows drops dots and spaces at the end of a name. A loop, since a regular expression takes quadratic time here. */
function withSafeEnd(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === "." || name[end - 1] === " ")) {
    end -= 1;
  }
  return end === name.length ? name : `${name.slice(0, end)}_`;
}

function split(name: string): { stem: string; extension: string } {
  const extension = extname(name);
  return Buffer.byteLength(extension) > longestExtensionBytes
    ? { stem: name, extension: "" }
    : { stem: name.slice(0, name.length - extension.length), extension };
}

/** Cuts between characters. */
function cut(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) {
    return text;
  }
  let bytes = 0;
  let kept = "";
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) {
      break;
    }
    kept += character;
  }
  return kept;
}

function shown(value: string): string {
  const printable = value.slice(0, 60).replace(/\p{C}/gu, "�");
  return value.length > 60 ? `${printable}…` : printable;
}
