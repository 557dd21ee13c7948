import * as v from "valibot";

/** AIM identifiers (ISO/IEC 15424) by the kind of code that the scanner has read. */
const identifiers = {
  "code-39": "]A0",
  "code-128": "]C0",
  "gs1-128": "]C1",
  "ean-13": "]E0",
  "ean-8": "]E4",
  "itf-14": "]I1",
  "gs1-databar": "]e0",
  datamatrix: "]d1",
  "gs1-datamatrix": "]d2",
  "qr-code": "]Q1",
  "gs1-qr-code": "]Q3",
} as const;

/** The kinds of codes that the scanner can read. */
export type Symbology = keyof typeof identifiers;

const symbologies = Object.keys(identifiers).filter((one): one is Symbology => one in identifiers);

export function identifierOf(symbology: Symbology): string {
  return identifiers[symbology];
}

/** The settings of the scanner, which real ones read from the barcodes in their manual. */
export interface ScannerSettings {
  /** Whether an AIM identifier such as `]C1` precedes each code. */
  readonly aim: boolean;
  readonly prefix: string;
  /** The end of each scan: CR LF, CR, LF, a tab, ETX. */
  readonly suffix: string;
  /** What is sent for FNC1 within a code. */
  readonly separator: string;
  /** What is sent if no code can be read, without an AIM identifier. */
  readonly noRead: string;
  /** How often each scan is sent, as by a scanner in presentation mode whose label stays in view. */
  readonly repeats: number;
  readonly repeatMs: number;
  /** How many bytes are sent at a time, as by a serial line behind a converter; 0: each scan in one piece. */
  readonly chunkBytes: number;
  readonly chunkMs: number;
}

/** The settings of the scanner at the start, and the server that it connects to. */
export interface ScannerOptions extends ScannerSettings {
  /**
   * A server to which the scanner connects, and reconnects after each loss, in addition to the port on which it
   * listens.
   */
  readonly connectTo: { readonly host: string; readonly port: number } | null;
}

export const defaultScanner: ScannerOptions = {
  aim: true,
  prefix: "",
  suffix: "\r\n",
  separator: "\x1d",
  noRead: "NoRead",
  repeats: 1,
  repeatMs: 30,
  chunkBytes: 0,
  chunkMs: 5,
  connectTo: null,
};

/** Throws if a setting is not valid. */
export function checkSettings<T extends Partial<ScannerSettings>>(settings: T): T {
  const { repeats = 1, chunkBytes = 0 } = settings;
  if (!Number.isInteger(repeats) || repeats < 1 || !Number.isInteger(chunkBytes) || chunkBytes < 0) {
    throw new Error(`The scanner cannot send ${repeats} times, ${chunkBytes} bytes at a time.`);
  }
  return settings;
}

/** Pressing the trigger of the scanner. Without a code it reads the label of the parcel on the table. */
export interface ScanCommand {
  /** The content of the code, with the group separator (character 29) for FNC1. */
  readonly code?: string | undefined;
  /** Default: `code-128` for a code that is given, `gs1-128` of the two on a label of the catalogue. */
  readonly symbology?: Symbology | undefined;
  /** The device on whose table the parcel is. Default newer. */
  readonly device?: "newer" | "earlier" | undefined;
  /** True: no code can be read. */
  readonly noRead?: boolean | undefined;
  /** All connections end after this many bytes, and the rest is lost. */
  readonly cutAtByte?: number | undefined;
}

export interface SentScan {
  readonly at: Date;
  /** The text exactly as it was sent; "" if the scanner is off. */
  readonly text: string;
  /** How many connections it was sent to; with none the scan is lost. */
  readonly receivers: number;
}

const longestCode = 8192;
const longestText = 100;
const longestMs = 60_000;
const mostRepeats = 100;

const text = v.pipe(v.string(), v.maxLength(longestText));
const upTo = (most: number, least = 0) =>
  v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most));

/** The body of `POST /scanner`: the changed settings, and whether the scanner is on. */
export const scannerSettings = v.strictObject({
  on: v.exactOptional(v.boolean()),
  aim: v.exactOptional(v.boolean()),
  prefix: v.exactOptional(text),
  suffix: v.exactOptional(text),
  separator: v.exactOptional(text),
  noRead: v.exactOptional(text),
  repeats: v.exactOptional(upTo(mostRepeats, 1)),
  repeatMs: v.exactOptional(upTo(longestMs)),
  chunkBytes: v.exactOptional(upTo(longestCode)),
  chunkMs: v.exactOptional(upTo(longestMs)),
});

/** The body of `POST /scanner/scan`. */
export const scanCommand = v.strictObject({
  code: v.exactOptional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(longestCode))),
  symbology: v.exactOptional(v.picklist(symbologies)),
  device: v.exactOptional(v.picklist(["newer", "earlier"])),
  noRead: v.exactOptional(v.boolean()),
  cutAtByte: v.exactOptional(upTo(longestCode)),
});
