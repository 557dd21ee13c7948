import { nodeName } from "../../src/saved/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

const codes = { legend: "group.codes" } as const;
const transfer = { isAdvanced: true } as const;

/** The saved properties of `dimensioner-scan`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** What of a scan becomes msg.transactionReference. */
  which: { kind: "choice", of: ["auto", "ai", "pattern", "text"], default: "auto", icon: "barcode" },
  ai: {
    kind: "text",
    default: "00",
    rule: "applicationIdentifier",
    required: "problem.ai",
    icon: "hashtag",
    placeholder: { text: "00" },
    note: "note.ai",
    when: { which: ["ai"] },
  },
  /** Matched in linear time: without back-references and look-around. */
  pattern: {
    kind: "text",
    default: "",
    rule: "pattern",
    required: "problem.pattern",
    icon: "asterisk",
    placeholder: { text: "^ORDER-(\\d+)$" },
    note: "note.pattern",
    when: { which: ["pattern"] },
  },
  /** What scans may be read as, separated by commas; anything else is ERR_INPUT. */
  symbologies: {
    kind: "text",
    default: "gs1,digitalLink,ean,other",
    rule: "codeKinds",
    required: "problem.symbologies",
    icon: "check-square-o",
    group: codes,
  },
  /** What happens to a code whose reference has a wrong check digit or the like. */
  invalid: {
    kind: "choice",
    of: ["error", "send"],
    default: "error",
    icon: "exclamation-triangle",
    group: codes,
  },
  /** Codes that are no parcels, separated by commas; they go to the second output. */
  controls: {
    kind: "text",
    default: "VIDEO_START, VIDEO_RESET",
    icon: "bolt",
    placeholder: "placeholder.controls",
    note: "note.controls",
    group: codes,
  },
  /** A scan that comes again within so many milliseconds is dropped; 0: never. */
  dedupe: {
    kind: "number",
    of: "milliseconds",
    default: 1500,
    icon: "clone",
    note: "note.dedupe",
    group: codes,
  },
  /** Whether a message can be a part of a scan. */
  framing: {
    kind: "choice",
    of: ["auto", "message", "stream"],
    default: "auto",
    icon: "exchange",
    ...transfer,
  },
  /** The longest pause within a scan, in milliseconds. */
  gap: {
    kind: "number",
    of: "milliseconds",
    default: 100,
    icon: "hourglass-half",
    note: "note.gap",
    when: { framing: ["auto", "stream"] },
    ...transfer,
  },
  /** What the scanner sends in place of the group separator, beside the usual replacements. */
  separator: {
    kind: "text",
    default: "",
    icon: "ellipsis-h",
    placeholder: "placeholder.separator",
    note: "note.separator",
    ...transfer,
  },
} as const satisfies PropertyTable;

export type ScanProperties = Saved<typeof properties>;

/** What holds where a flow says nothing. */
export const defaults = defaultsOf(properties);
