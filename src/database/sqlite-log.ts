import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/**
 * Checks SQLite's write-ahead log (sqlite.org/fileformat2.html, section 4) before SQLite opens it.
 *
 * SQLite takes the first frame with a wrong checksum as the end of the log, without an error, because a commit looks
 * like that when a power failure has interrupted it. A flipped bit in an older frame looks the same, and all later
 * commits would be lost. The two can be distinguished: each commit is synced before the next one is written, so a
 * commit that is followed by another one cannot have been interrupted.
 */

const headerBytes = 32;
const frameHeaderBytes = 24;
/** The last bit says whether the words of the checksums are big-endian. */
const magic = 0x377f0682;
const usualPageBytes = 4_096;
/** How many bytes are read at once: several frames of any page size. */
const chunkBytes = 1_048_576;

type Checksum = readonly [number, number];

interface LogHeader {
  readonly isIntact: boolean;
  readonly isBigEndian: boolean;
  readonly pageBytes: number;
  readonly salts: Checksum;
  readonly checksum: Checksum;
}

/** The content of a log. */
export interface LogFindings {
  /** Commits that SQLite will find. */
  readonly commits: number;
  /** Whether synced commits follow a frame that SQLite would take for the end. */
  readonly isDamaged: boolean;
}

const nothing: LogFindings = { commits: 0, isDamaged: false };

/** Reads the log at this path; a missing or empty one contains nothing. Throws the errors of the disk. */
export function readLog(path: string): LogFindings {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return nothing;
    }
    throw error;
  }
  try {
    const start = Buffer.alloc(headerBytes);
    return readSync(descriptor, start, 0, headerBytes, 0) < headerBytes
      ? nothing
      : readFrames(descriptor, readHeader(start));
  } finally {
    closeSync(descriptor);
  }
}

function readHeader(bytes: Buffer): LogHeader {
  const word = bytes.readUInt32BE(0);
  const isBigEndian = (word & 1) === 1;
  const pageBytes = bytes.readUInt32BE(8);
  const isPageSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0;
  const checksum: Checksum = [bytes.readUInt32BE(24), bytes.readUInt32BE(28)];
  const isIntact =
    (word & ~1) === magic &&
    isPageSize &&
    isEqual(addToChecksum([0, 0], bytes.subarray(0, 24), isBigEndian), checksum);
  return {
    isIntact,
    // The logs of this package have little-endian checksums and pages of the usual size on all its platforms.
    isBigEndian: isIntact && isBigEndian,
    pageBytes: isIntact ? pageBytes : usualPageBytes,
    salts: [bytes.readUInt32BE(16), bytes.readUInt32BE(20)],
    checksum,
  };
}

function readFrames(descriptor: number, header: LogHeader): LogFindings {
  const { isBigEndian, pageBytes } = header;
  const frameBytes = frameHeaderBytes + pageBytes;
  const frames = Math.floor((fstatSync(descriptor).size - headerBytes) / frameBytes);
  const perChunk = Math.floor(chunkBytes / frameBytes);
  const chunk = Buffer.alloc(perChunk * frameBytes);
  const chain = new FrameChain(header);
  for (let first = 0; first < frames && !chain.isDamaged; first += perChunk) {
    const read = readSync(descriptor, chunk, 0, chunk.length, headerBytes + first * frameBytes);
    for (let at = 0; at + frameBytes <= read; at += frameBytes) {
      const frame = chunk.subarray(at, at + frameBytes);
      const head = addToChecksum(chain.previous, frame.subarray(0, 8), isBigEndian);
      chain.add(
        {
          isCommit: frame.readUInt32BE(4) !== 0,
          salts: [frame.readUInt32BE(8), frame.readUInt32BE(12)],
          checksum: [frame.readUInt32BE(16), frame.readUInt32BE(20)],
        },
        addToChecksum(head, frame.subarray(frameHeaderBytes), isBigEndian),
      );
    }
  }
  return { commits: chain.commits, isDamaged: chain.isDamaged };
}

interface Frame {
  /** Whether it is the last frame of a commit. */
  readonly isCommit: boolean;
  readonly salts: Checksum;
  /** The checksum of all frames up to this one. */
  readonly checksum: Checksum;
}

/** Follows the frames of a log. Each continues the checksum of the frame before it. */
class FrameChain {
  /** The checksum in the last frame. */
  previous: Checksum;
  /** Commits before the first broken frame. */
  commits = 0;
  isDamaged = false;
  /** The salts of the present run of the log; frames that are left of an older run have others. */
  #salts: Checksum | undefined;
  #isBroken: boolean;
  /** Commits in the frames behind the first broken one that continue each other, including the one before them. */
  #commitsBehind = 0;
  #isLastCommit = false;

  constructor({ isIntact, salts, checksum }: LogHeader) {
    this.previous = checksum;
    this.#isBroken = !isIntact;
    this.#salts = isIntact ? salts : undefined;
  }

  add(frame: Frame, computed: Checksum): void {
    // With a broken header the right salts are not known; consecutive frames have the same ones.
    const isOfThisRun = this.#salts === undefined || isEqual(frame.salts, this.#salts);
    const isContinued = isOfThisRun && isEqual(computed, frame.checksum);
    if (!this.#isBroken && isContinued) {
      this.commits += frame.isCommit ? 1 : 0;
    } else if (this.#isBroken && isContinued) {
      this.#commitsBehind ||= this.#isLastCommit ? 1 : 0;
      this.#commitsBehind += frame.isCommit ? 1 : 0;
      // The second commit was started after the first one, and everything before it, had been synced.
      this.isDamaged ||= this.#commitsBehind >= 2;
    } else {
      this.#isBroken = true;
      this.#commitsBehind = 0;
    }
    this.#isLastCommit = frame.isCommit;
    this.previous = frame.checksum;
  }
}

/** SQLite's checksum: two sums of 32 bits over pairs of words. */
function addToChecksum([first, second]: Checksum, bytes: Buffer, isBigEndian: boolean): Checksum {
  // Signed integers of 32 bits, which the engine adds three times as fast as unsigned ones.
  let sum1 = first | 0;
  let sum2 = second | 0;
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; at += 8) {
    sum1 = (sum1 + words.getInt32(at, !isBigEndian) + sum2) | 0;
    sum2 = (sum2 + words.getInt32(at + 4, !isBigEndian) + sum1) | 0;
  }
  return [sum1 >>> 0, sum2 >>> 0];
}

function isEqual([one, two]: Checksum, [other1, other2]: Checksum): boolean {
  return one === other1 && two === other2;
}
