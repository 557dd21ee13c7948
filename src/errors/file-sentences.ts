import type { Sentence } from "./sentence.ts";

/** Errors of the disk. The hint is the path alone, so that flows find it there. */
export const files = {
  fileFull: {
    code: "ERR_FILE",
    text: "The disk is full: __path__ was not saved. Free some space and try again.",
    hint: "__path__",
    retryable: true,
  },
  fileDenied: {
    code: "ERR_FILE",
    text: "No permission to write __path__. Give the user that runs this program access to the folder.",
    hint: "__path__",
    inNode: {
      text: "No permission to write __path__. Give the user that runs Node-RED access to the folder.",
    },
  },
  fileExists: {
    code: "ERR_FILE",
    text: "__path__ already exists with other content and was not changed. Choose another name or another rule for existing files.",
    hint: "__path__",
  },
  fileNoFolder: {
    code: "ERR_FILE",
    text: "The folder __path__ does not exist. Create it or mount its share; it is not created automatically.",
    hint: "__path__",
    retryable: true,
  },
  fileNotFolder: {
    code: "ERR_FILE",
    text: "__path__ is not a folder. Choose a folder to save files in.",
    hint: "__path__",
  },
  fileOutside: {
    code: "ERR_FILE",
    text: "__path__ is outside the folder that files are saved in. Remove the link or choose another name.",
    hint: "__path__",
  },
  fileStalled: {
    code: "ERR_FILE",
    text: "Saving the data from __host__ stopped: no progress for __seconds__ s. Check the disk or the network share.",
    hint: "A network share that does not respond can cause this.",
    retryable: true,
  },
  fileHung: {
    code: "ERR_FILE",
    text: "The disk of __path__ does not respond. Check the disk or the network share, then try again.",
    hint: "__path__",
    retryable: true,
  },
  fileOther: {
    code: "ERR_FILE",
    text: "__path__ could not be saved: __problem__. Check the disk or the network share.",
    hint: "__path__",
    retryable: true,
  },
} as const satisfies Record<string, Sentence>;
