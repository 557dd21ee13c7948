import type { Sentence } from "./sentence.ts";

/** The database of a store. */
export const stores = {
  storeInUse: {
    code: "ERR_STORE",
    text: "The database __path__ is in use by another process. Stop that process, or use another file.",
    hint: "Only one process at a time can use an embedded database.",
    retryable: true,
    inNode: {
      text: "The database __path__ is in use by another process. Stop that process, or give each Node-RED a user directory of its own.",
    },
  },
  storeDamaged: {
    code: "ERR_STORE",
    text: "The database __path__ is damaged: __problem__. Nothing was deleted. Restore the file from a backup, or make a new one from the packages with the command dimensioner-rebuild.",
    hint: "What a damaged database holds can often still be read with SQLite's own tools.",
  },
  storeLocked: {
    code: "ERR_STORE",
    text: "Another program has locked the database __path__ for writing: nothing was written. Close that program, or let it finish, and try again.",
    hint: "Other programs can read the database while it is in use, but must not write to it.",
    retryable: true,
  },
  storeReplaced: {
    code: "ERR_STORE",
    text: "The database __path__ was removed or replaced while it was in use: the last change was not stored. Put the file back, or restart this program to use what is there now.",
    hint: "Stop the program before you move, delete or restore its database.",
    retryable: true,
    inNode: {
      text: "The database __path__ was removed or replaced while it was in use: the last change was not stored. Put the file back, or restart Node-RED to use what is there now.",
      hint: "Stop Node-RED before you move, delete or restore its database.",
    },
  },
  storeNewer: {
    code: "ERR_STORE",
    text: "The database __path__ was written by a newer version of this package. Update the package.",
    hint: "An older version could misread what the newer one has stored.",
  },
  storeFull: {
    code: "ERR_STORE",
    text: "The disk is full: nothing was written to the database __path__. Free some space and try again.",
    hint: "What was stored before is safe.",
    retryable: true,
  },
  storeDenied: {
    code: "ERR_STORE",
    text: "No permission to write the database __path__. Give the user that runs this program access to the file and its folder.",
    hint: "What was stored before is safe.",
    inNode: {
      text: "No permission to write the database __path__. Give the user that runs Node-RED access to the file and its folder.",
    },
  },
  storeUnanswered: {
    code: "ERR_STORE",
    text: "The database __path__ has not responded for __seconds__ s. Check the disk.",
    hint: "A disk or network share that does not respond can cause this.",
    retryable: true,
  },
  storeClosed: {
    code: "ERR_STORE",
    text: "The database __path__ was closed before this finished. Try again.",
    hint: "Closing a database ends what waits for it.",
    retryable: true,
    inNode: { hint: "A stop or a deploy closes the database." },
  },
  storeFailed: {
    code: "ERR_STORE",
    text: "The database __path__ reports an error: __problem__. Check the disk and the permissions of the folder.",
    hint: "What was stored before is safe.",
    retryable: true,
  },
} as const satisfies Record<string, Sentence>;
