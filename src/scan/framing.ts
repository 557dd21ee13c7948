/** One scan as the scanner sent it. */
export interface Frame {
  /** The text with everything around the code: all frames together are the whole text. */
  readonly raw: string;
  /** The code alone, with its AIM identifier. */
  readonly body: string;
}

/** The scans of a text, and the beginning of an incomplete one. */
export interface Framed {
  readonly frames: readonly Frame[];
  readonly rest: string;
}

const startOfText = "\x02";
const endOfText = "\x03";
/** The characters that end a scan; several in a row end one. */
const isEnd = (character: string | undefined): boolean =>
  character === "\r" ||
  character === "\n" ||
  character === "\t" ||
  character === endOfText ||
  character === "\0";

/**
 * Divides a text into scans. Carriage return, line feed, tab, ETX and NUL each end a scan; between STX and ETX the
 * others belong to it. The text behind the last end is the rest.
 */
export function splitFrames(text: string): Framed {
  const frames: Frame[] = [];
  let from = 0;
  let position = 0;
  while (position < text.length) {
    while (isEnd(text[position])) {
      position++;
    }
    const isFramed = text[position] === startOfText;
    const start = isFramed ? position + 1 : position;
    let end = start;
    while (end < text.length && (isFramed ? text[end] !== endOfText : !isEnd(text[end]))) {
      end++;
    }
    if (end === text.length) {
      break;
    }
    position = end;
    while (isEnd(text[position])) {
      position++;
    }
    // STX and ETX without text between them are not a scan.
    if (end > start) {
      frames.push({ raw: text.slice(from, position), body: text.slice(start, end) });
    }
    from = position;
  }
  return appendEnds(frames, text.slice(from));
}

/** Further ending characters belong to the last scan. */
function appendEnds(frames: Frame[], rest: string): Framed {
  if (leadingEnds(rest) < rest.length) {
    return { frames, rest };
  }
  const last = frames.at(-1);
  return last === undefined
    ? { frames, rest: "" }
    : { frames: [...frames.slice(0, -1), { ...last, raw: last.raw + rest }], rest: "" };
}

/** The rest as a scan, if nothing more arrives; undefined if it is empty. */
export function lastFrame(rest: string): Frame | undefined {
  const body = bodyOf(rest);
  return body === "" ? undefined : { raw: rest, body };
}

/** Whether a scan has begun with STX and not ended with ETX. */
export function isCutOff(rest: string): boolean {
  return rest.slice(leadingEnds(rest)).startsWith(startOfText);
}

function bodyOf(rest: string): string {
  const start = leadingEnds(rest);
  return rest.slice(rest[start] === startOfText ? start + 1 : start);
}

/** The position at which the first scan of a text ends; -1 if none does. */
export function firstEnd(text: string): number {
  for (let position = 0; position < text.length; position++) {
    if (isEnd(text[position])) {
      return position;
    }
  }
  return -1;
}

function leadingEnds(text: string): number {
  let position = 0;
  while (isEnd(text[position])) {
    position++;
  }
  return position;
}

/** All scans of a complete text. */
export function allFrames(text: string): Frame[] {
  const { frames, rest } = splitFrames(text);
  const last = lastFrame(rest);
  return last === undefined ? [...frames] : [...frames, last];
}
