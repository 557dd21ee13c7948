import type { Sentence } from "./sentence.ts";

/** Options, settings and values that are not valid, so that nothing was sent. */
export const settings = {
  configInvalid: {
    code: "ERR_CONFIG",
    text: "The __what__ option “__field__” is not valid: __problem__ Correct it.",
    hint: "No request was made.",
    inNode: {
      text: "The __what__ setting “__field__” is not valid: __problem__ Correct it and deploy.",
      hint: "Open the node that has this setting and correct it.",
    },
  },
  configToken: {
    code: "ERR_CONFIG",
    text: "The token is missing, or it has characters that a token cannot have. Use a token from the cloud portal.",
    hint: "Tokens are created in the cloud portal.",
    inNode: {
      text: "The cloud config node has no valid token. Paste a token from the cloud portal and deploy.",
    },
  },
  configFolder: {
    code: "ERR_CONFIG",
    text: "The folder to save files in is missing. Specify an existing one.",
    hint: "The folder is not created automatically.",
    inNode: { text: "The folder to save files in is not set. Enter an existing folder and deploy." },
  },
  configGeneration: {
    code: "ERR_CONFIG",
    text: "The __generation__ device has no __feature__ in its API. Use a newer device or the cloud.",
    hint: "The generation decides what can be requested from the device.",
    inNode: { hint: "The generation is set in the device config node." },
  },
  inputMissing: {
    code: "ERR_INPUT",
    text: "__field__ is missing. Nothing was sent; provide a value.",
    hint: "The API requires this value.",
    inNode: {
      text: "__field__ is missing; nothing was sent. Check where this node gets it from.",
      hint: "Connect a Debug node in front of this node to see the message.",
    },
  },
  inputValue: {
    code: "ERR_INPUT",
    text: "“__value__” is not valid for __field__: __problem__ Nothing was sent.",
    hint: "Correct the value before you call again.",
    inNode: { hint: "Connect a Debug node in front of this node to see the message." },
  },
  inputBodyUsed: {
    code: "ERR_INPUT",
    text: "The body of this download has already been read or ended, and it can be read only once. Request the download again.",
    hint: "Pass a download to one function only.",
  },
} as const satisfies Record<string, Sentence>;
