import { aDate, aText, anObject, checkArguments, trueOrFalse } from "../errors/check.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import type { Values } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import type { Scan } from "../model/shapes.ts";
import {
  type Frame,
  type Reading,
  type ReadingOptions,
  allFrames,
  bytesOf,
  decodeText,
  readCode,
} from "./read-code.ts";

const facts = { surface: "config", operation: "scan", outcome: null } as const;
const readingOptions = anObject({ separator: aText, today: aDate, addressee: trueOrFalse });

const nothing = /^[\p{Cc}\s]*$/u;

/** The largest symbol there is holds 7,089 digits. */
export const mostCharacters = 8_192;
/** The limit of all scans that arrive at once. */
const mostBytes = 65_536;

/**
 * Reads what a barcode scanner has sent of one code: text or bytes, with or without an AIM identifier in front and Enter, tab
 * or the like behind. Understands GS1 element strings, also in the form that people read, GS1 Digital Link URIs, EAN, UPC and
 * ITF-14; what is none of them is text. Takes time in proportion to the length, which is limited.
 *
 * Throws ERR_INPUT where there is no code in it, more than one, or too much. A wrong check digit is no error: `checked` of its
 * element is false.
 */
export function readScan(input: string | Uint8Array, options: ReadingOptions = {}): Scan {
  const [scan, ...others] = readScans(input, options);
  if (scan === undefined || others.length > 0) {
    throw scanError("scanSeveral", { count: others.length + 1 });
  }
  return scan;
}

/**
 * The same for a text that may contain several scans: CR, LF, tab, ETX and NUL end one. Throws ERR_INPUT if there is
 * none.
 */
export function readScans(input: string | Uint8Array, options: ReadingOptions = {}): Scan[] {
  // The check takes as long as reading a label; most calls need only to know that there is nothing wrong.
  if (readingOptions(options) !== undefined) {
    checkArguments(facts, { options }, { options: readingOptions });
  }
  const frames = allFrames(textOf(input)).filter(({ body }) => body !== "");
  if (frames.length === 0) {
    throw scanError("scanEmpty");
  }
  return frames.map((frame) => {
    const reading = readFrame(frame, options);
    if (isEmpty(reading)) {
      throw scanError("scanEmpty");
    }
    return reading.scan;
  });
}

/** Reads one scan of several; throws ERR_INPUT if it is too long. */
export function readFrame(frame: Frame, options: ReadingOptions): Reading {
  return readCode(checkLength(frame), options);
}

/** Whether a scan contains no code. */
export function isEmpty({ scan }: Reading): boolean {
  return nothing.test(scan.text);
}

/** Converts the input to text; throws ERR_INPUT if it is neither text nor bytes, or longer than any scanner sends. */
export function textOf(input: unknown): string {
  const given = typeof input === "string" ? input : bytesOf(input);
  if (given === undefined) {
    throw scanError("scanPayload");
  }
  if (given.length > mostBytes) {
    throw scanError("scanTooLong", { most: mostCharacters });
  }
  return typeof given === "string" ? given : decodeText(given);
}

export function checkLength(frame: Frame): Frame {
  if (frame.body.length > mostCharacters) {
    throw scanError("scanTooLong", { most: mostCharacters });
  }
  return frame;
}

export function scanError(sentence: SentenceKey, values: Values = {}): DimensionerError {
  return new DimensionerError(sentence, facts, values);
}
