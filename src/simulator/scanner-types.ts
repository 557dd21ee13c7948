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

export const symbologies = Object.keys(identifiers).filter((one): one is Symbology => one in identifiers);

export function identifierOf(symbology: Symbology): string {
  return identifiers[symbology];
}

/** How the scanner is set up, as real ones are with the barcodes of their manual. */
export interface ScannerSettings {
  /** Whether an AIM identifier such as `]C1` stands in front of each code. */
  readonly aim: boolean;
  readonly prefix: string;
  /** What ends each scan: CR LF, CR, LF, a tab, ETX. */
  readonly suffix: string;
  /** What it sends for FNC1 within a code. */
  readonly separator: string;
  /** What it sends where it can read no code, without an AIM identifier. */
  readonly noRead: string;
  /** How often it sends each scan, like a scanner in presentation mode whose label stays in view. */
  readonly repeats: number;
  readonly repeatMs: number;
  /** How many bytes it sends at a time, like a serial line behind a converter; 0: each scan in one piece. */
  readonly chunkBytes: number;
  readonly chunkMs: number;
}

/** How the scanner is set up at the start, and whom it connects to. */
export interface ScannerOptions extends ScannerSettings {
  /** A server that the scanner connects to by itself, and again after each loss, beside the port that it listens on. */
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

/** Throws where a setting could never work. */
export function checkSettings<T extends Partial<ScannerSettings>>(settings: T): T {
  const { repeats = 1, chunkBytes = 0 } = settings;
  if (!Number.isInteger(repeats) || repeats < 1 || !Number.isInteger(chunkBytes) || chunkBytes < 0) {
    throw new Error(`The scanner cannot send ${repeats} times, ${chunkBytes} bytes at a time.`);
  }
  return settings;
}

/** The trigger of the scanner is pressed. Without a code it reads the label of the parcel on the table. */
export interface ScanCommand {
  /** What the code holds, with the group separator (character 29) for FNC1. */
  readonly code?: string | undefined;
  /** Default: `code-128` for a code that is given, `gs1-128` of the two on a label of the catalogue. */
  readonly symbology?: Symbology | undefined;
  /** On whose table the parcel is. Default newer. */
  readonly device?: "newer" | "earlier" | undefined;
  /** True: it finds no code. */
  readonly noRead?: boolean | undefined;
  /** After so many bytes all connections end, and the rest is lost. */
  readonly cutAtByte?: number | undefined;
}

export interface SentScan {
  readonly at: Date;
  /** Exactly as sent; "" where the scanner is off. */
  readonly text: string;
  /** How many connections it went to; sent to none, a scan is lost. */
  readonly receivers: number;
}
