import type { Sentence } from "./sentence.ts";

/** What can be wrong with a scan: sentences for the person who holds the scanner. */
export const scans = {
  scanEmpty: {
    code: "ERR_INPUT",
    text: "The scan is empty. Scan the label again.",
    hint: "What has arrived has no characters apart from those that scanners put around a code.",
  },
  scanPayload: {
    code: "ERR_INPUT",
    text: "This is no scan: it must be a text or bytes. Pass on what the scanner sends without changing it.",
    hint: "Numbers are not accepted: they lose zeros in front, and digits behind the sixteenth.",
    inNode: {
      text: "What is in msg.payload is no scan: it must be a text or a Buffer. Connect this node directly to the node that receives scans.",
    },
  },
  scanTooLong: {
    code: "ERR_INPUT",
    text: "The scan has more than __most__ characters, and no code is that long. Scan the label again.",
    hint: "If this goes on, check that the scanner ends each scan with Enter (CR or LF), and that nothing else sends to this.",
  },
  scanSeveral: {
    code: "ERR_INPUT",
    text: "These are __count__ scans, and one was expected. Read them with readScans.",
    hint: "CR, LF, tab, ETX and NUL end a scan.",
  },
} as const satisfies Record<string, Sentence>;
