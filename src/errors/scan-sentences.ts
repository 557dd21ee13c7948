import type { Sentence } from "./sentence.ts";

/** What can be wrong with a scan: sentences for the person who holds the scanner. */
export const scans = {
  scanEmpty: {
    code: "ERR_INPUT",
    text: "The scan is empty. Scan the label again.",
    hint: "It contains only characters that scanners put around a code.",
  },
  scanPayload: {
    code: "ERR_INPUT",
    text: "This is not a scan: it must be a string or bytes. Pass on what the scanner sends without changing it.",
    hint: "Numbers are not accepted: they lose leading zeros, and all digits after the sixteenth.",
    inNode: {
      text: "The value in msg.payload is not a scan: it must be a string or a Buffer. Connect this node directly to the node that receives scans.",
    },
  },
  scanTooLong: {
    code: "ERR_INPUT",
    text: "The scan has more than __most__ characters, and no code is that long. Scan the label again.",
    hint: "If this happens again, check that the scanner ends each scan with Enter (CR or LF), and that nothing else sends data here.",
  },
  scanSeveral: {
    code: "ERR_INPUT",
    text: "These are __count__ scans, and one was expected. Read them with readScans.",
    hint: "CR, LF, tab, ETX and NUL end a scan.",
  },
} as const satisfies Record<string, Sentence>;
