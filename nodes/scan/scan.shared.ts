import { nodeName } from "../../src/properties/common-properties.ts";
import { usualNoReads } from "../../src/rules/scans.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const codes = { legend: "group.codes" } as const;
const transfer = { isAdvanced: true } as const;

/** The saved properties of `dimensioner-scan`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** Which part of a scan becomes msg.transactionReference. */
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
  /** Matched in linear time, so without back-references and look-around. */
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
  /** The kinds of codes that are accepted, separated by commas; any other ends in ERR_INPUT. */
  symbologies: {
    kind: "text",
    default: "gs1,digitalLink,ean,other",
    rule: "codeKinds",
    required: "problem.symbologies",
    icon: "check-square-o",
    group: codes,
  },
  /** What happens to a code whose reference is wrong, such as by its check digit. */
  invalid: {
    kind: "choice",
    of: ["error", "send"],
    default: "error",
    icon: "exclamation-triangle",
    group: codes,
  },
  /** Control codes, separated by commas; they go to the second output. */
  controls: {
    kind: "text",
    default: "VIDEO_START, VIDEO_RESET",
    icon: "bolt",
    placeholder: "placeholder.controls",
    note: "note.controls",
    group: codes,
  },
  /** What identifies no parcel, separated by commas; it goes to the second output. */
  noReads: {
    kind: "text",
    default: usualNoReads,
    icon: "eye-slash",
    placeholder: "placeholder.controls",
    note: "note.noReads",
    group: codes,
  },
  /** Whether the message has what a carrier's 2D label says of the addressee. */
  addressee: { kind: "flag", default: false, note: "note.addressee", group: codes },
  /** The same scan within this many milliseconds is dropped; 0: never. */
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
  /** The text that the scanner sends in place of the group separator, beside the usual replacements. */
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

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
