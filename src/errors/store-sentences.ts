import type { Sentence } from "./sentence.ts";

/** Errors of a store's database. */
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
    text: 'The database __path__ is damaged: __problem__. Nothing was deleted. Stop what uses it. Then restore the file from a backup, or make a new one from the packages: run dimensioner rebuild "folder of the packages" --database "__path__".',
    hint: "Much of a damaged database can often still be read with SQLite's own tools.",
    inNode: {
      text: 'The database __path__ is damaged: __problem__. Nothing was deleted. Stop Node-RED. Then restore the file from a backup, or make a new one from the packages: run npx dimensioner rebuild "folder of the packages" --database "__path__" in Node-RED\'s user directory.',
    },
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
    text: "The database __path__ was written by a newer version of this software. Update it.",
    hint: "An older version could misread what the newer one has stored.",
    inNode: {
      text: "The database __path__ was written by a newer version of @dimflow/node-red-dimensioner. Update it in Manage palette.",
    },
  },
  storeForeign: {
    code: "ERR_STORE",
    text: "The file __path__ is not the database of a store. Nothing was changed. Check the path.",
    hint: "The database of a store is an SQLite file whose name ends with .sqlite.",
    inNode: {
      hint: "Node-RED keeps the database of a store in its user directory, in the folder dimensioner.",
    },
  },
  storeMissing: {
    code: "ERR_STORE",
    text: "There is no database __path__. Check the path.",
    hint: "The database of a store is an SQLite file whose name ends with .sqlite.",
    inNode: {
      hint: "Node-RED keeps the database of a store in its user directory, in the folder dimensioner.",
    },
  },
  storeNotHere: {
    code: "ERR_STORE",
    text: "No database in the folder __path__ belongs to a store with the packages folder __name__. Specify the database file.",
    hint: "The database of a store is an SQLite file whose name ends with .sqlite.",
    inNode: {
      hint: "Node-RED keeps the database of a store in its user directory, in the folder dimensioner.",
    },
  },
  storeOtherFolder: {
    code: "ERR_STORE",
    text: "The database __path__ lists the packages of the folder __name__. Nothing was changed. Specify that folder, or another database. If you have moved the packages, first open the store once with their new folder.",
    hint: "A database lists the packages of one folder.",
    inNode: {
      text: "The database __path__ lists the packages of the folder __name__. Nothing was changed. Specify that folder, or another database. If you have moved the packages, first start Node-RED once with their new folder.",
    },
  },
  storeNotPruned: {
    code: "ERR_STORE",
    text: "The database __path__ lists the packages of __name__, not those of __value__. Nothing was deleted. Specify the database of __value__, or none if this is a copy. If you have moved the packages, first open the store once with their new folder.",
    hint: "A database lists the packages of one folder.",
    inNode: {
      text: "The database __path__ lists the packages of __name__, not those of __value__. Nothing was deleted. Set __name__ again in the store. If you have moved the packages, first start Node-RED once with their new folder.",
    },
  },
  storeMoved: {
    code: "ERR_STORE",
    text: "The folder of this store was __name__ and is now __path__, but its packages or open jobs are still in the old one. Nothing was changed, and open jobs are kept. Set the old folder again, or move everything in it to the new one, with the hidden folder .dimensioner-archive. To archive into a new folder from now on, use a new store.",
    hint: "A store has one folder for its packages.",
  },
  storeJobsOpen: {
    code: "ERR_STORE",
    text: "The packages of this store were in __name__ and are now to be in __path__, but jobs are still open. Nothing was changed, and open jobs are kept. Set __name__ again and wait until all jobs have ended. Then copy everything, with .dimensioner-archive, and change the store. To archive in another place from now on, use a new store.",
    hint: "A bucket can be changed only when no job is open.",
  },
  storeTwoFolders: {
    code: "ERR_CONFIG",
    text: "Two stores use the database __path__ with different folders of packages: __name__ and __value__. Give both the same folder, or each a database of its own.",
    hint: "A database lists the packages of one folder.",
  },
  storeFull: {
    code: "ERR_STORE",
    text: "The disk is full: nothing was written to the database __path__. Free some space and try again.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  storeDenied: {
    code: "ERR_STORE",
    text: "No permission to write the database __path__. Give the user that runs this program access to the file and its folder.",
    hint: "Everything that was stored before is safe.",
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
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  evidenceNotFound: {
    code: "ERR_NOT_FOUND",
    text: "No package was found for “__value__”. Nothing was changed. Check the value, or search for the beginning of it.",
    hint: "Only packages in the index of this store are found.",
  },
  evidenceTooMany: {
    code: "ERR_INPUT",
    text: "More than __most__ packages were found for “__value__”. Nothing was changed. Use a more specific value, or increase the limit.",
    hint: "The limit prevents changes to more packages than intended.",
  },
  evidenceGone: {
    code: "ERR_NOT_FOUND",
    text: "The package __path__ is in the index, but its folder is missing or its manifest cannot be read. Verify the archive to see what is wrong.",
    hint: "Restore the folder from your backup.",
  },
  evidenceGoneOthersHeld: {
    code: "ERR_NOT_FOUND",
    text: "The package __path__ is in the index, but its folder is missing or its manifest cannot be read. The other packages that were found are on hold. Verify the archive to see what is wrong.",
    hint: "Restore the folder from your backup, then put the package on hold.",
  },
  evidenceHeldByFile: {
    code: "ERR_INPUT",
    text: "The package __path__ stays on hold, because somebody has put the file __name__ into its folder. To release it, delete that file there.",
    hint: "Only holds that this software has set are released.",
  },
  holdsUnread: {
    code: "ERR_FILE",
    text: "__path__ cannot be read, and may be on hold. Packages were not deleted. Check the disk or the network share and verify the archive, then try again.",
    hint: "A hold on one package also protects packages in other folders.",
    retryable: true,
  },
  exportInArchive: {
    code: "ERR_CONFIG",
    text: "The folder __path__ is in the folder of the packages, where a verification would report the export. Choose another folder.",
    hint: "The folder of the packages contains packages only.",
  },
  exportTooLarge: {
    code: "ERR_TOO_LARGE",
    text: "The export is larger than __limit__. Export it to a file, or export fewer packages.",
    hint: "A file can have any size.",
  },
  exportChanging: {
    code: "ERR_FILE",
    text: "__path__ has changed while it was being exported. No export was made. Export it again.",
    hint: "A person or a program changed it during the export.",
    retryable: true,
  },
  timestampNothing: {
    code: "ERR_NOT_FOUND",
    text: "There is no package yet that could be time-stamped. Archive one first.",
    hint: "The newest package of the store is time-stamped, and with it all packages before it.",
  },
  timestampChanged: {
    code: "ERR_FILE",
    text: "The newest package, __path__, has changed since it was archived, so it was not time-stamped. Verify the archive to see what is wrong.",
    hint: "Nothing was sent to the time stamp server.",
  },
  timestampServer: {
    code: "ERR_CONFIG",
    text: "No time stamp server is set. Specify its address.",
    hint: "A time stamp server is a service that follows RFC 3161.",
    inNode: { text: "No time stamp server is set. Enter its address in the evidence node and deploy." },
  },
  timestampRoots: {
    code: "ERR_CONFIG",
    text: "The file of root certificates, __path__, cannot be used: __problem__. Specify a file with certificates in PEM form.",
    hint: "The operator of the time stamp server publishes its root certificate.",
  },
  timestampWrong: {
    code: "ERR_BAD_RESPONSE",
    text: "The time stamp from __host__ was not accepted: __problem__. Nothing was kept. Check the server and the root certificates.",
    hint: "A time stamp that cannot be verified now proves nothing later.",
  },
  timestampLogin: {
    code: "ERR_UNAUTHORIZED",
    text: "The time stamp server __host__ requires a user name and a password, or does not accept the ones that were sent. Check both.",
    hint: "They are sent to this server only.",
  },
  timestampNoService: {
    code: "ERR_NOT_FOUND",
    text: "__host__ has no time stamp service at __path__. Check the address.",
    hint: "The address must be complete, including its path.",
  },
  evidenceFailed: {
    code: "ERR_FILE",
    text: "The packages could not be processed: __problem__. Check the disk or the network share.",
    hint: "Nothing is lost; try again.",
    retryable: true,
  },
} as const satisfies Record<string, Sentence>;
