import { randomUUID } from "node:crypto";
import { extname } from "node:path";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { field } from "../errors/interpolation.ts";
import { fileNameProblem, partsOf } from "../rules/names.ts";
import { errorFacts, type TransferFacts } from "./disk.ts";

/** The longest name, in bytes of UTF-8, that every common file system accepts. */
const nameBytes = 255;
/** Bytes kept free for " (12)", so that a second file of the same name has the same beginning. */
const numberBytes = Buffer.byteLength(" (12)");
const longestExtensionBytes = 32;

/** The form of the names of unfinished files; no other file can be given such a name. */
export const partName = /^\.dimensioner-[0-9a-f-]{36}\.(?:part|name)$/i;

/** The beginning of the names of this process's unfinished files. */
const ownBeginning = `.dimensioner-${randomUUID().slice(0, 18)}`;

/** Creates a name for an unfinished file. */
export function newPartName(): string {
  return `${ownBeginning}${randomUUID().slice(18)}.part`;
}

/** Whether this is the name of a file that this process is writing, or has failed to remove. */
export function isOwnPart(name: string): boolean {
  return name.startsWith(ownBeginning);
}

/** Characters that Windows, macOS or file shares do not allow in a name, and control characters. */
const unsafeCharacter = /[/\\?<>:*|"\p{Cc}]/gu;
const windowsReserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])\s*(?:\.|$)/i;

/**
 * The parts of a name that a message gave, each safe to create: sub-folders first, the file's name last. Throws
 * ERR_INPUT if the name is absolute, leads upwards, or is empty.
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

/** Builds one safe file name from a base that no person has typed, and an extension. */
export function suggestedName(base: string, extension: string): string {
  return safeName(`${base.trim() || "file"}.${extension}`, numberBytes);
}

/** The name with a number before its extension, as file managers write it; number 0 is the name itself. */
export function numberedName(name: string, number: number): string {
  if (number === 0) {
    return name;
  }
  const { stem, extension } = split(name);
  const tail = ` (${number})${extension}`;
  return cut(stem, nameBytes - Buffer.byteLength(tail)) + tail;
}

/** The numbers of this name that exist among the entries of a folder; number 0 is the name itself. */
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
  // Half of a surrogate pair is replaced as the disk would do it, so that the reported name is the disk's.
  const wellFormed = Buffer.from(raw.normalize("NFC")).toString();
  const { stem, extension } = split(wellFormed);
  const name = cut(stem, nameBytes - reservedBytes - Buffer.byteLength(extension)) + extension;
  const free = windowsReserved.test(name) || partName.test(name) ? `_${name}` : name;
  return withSafeEnd(cut(free.replace(unsafeCharacter, "_"), nameBytes));
}

/**
 * Removes dots and spaces at the end, as Windows does. A loop, since a regular expression takes quadratic time here.
 */
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

/** Cuts a text between two characters. */
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
