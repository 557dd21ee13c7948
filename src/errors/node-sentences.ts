import type { Sentence } from "./sentence.ts";

/** Sentences that only the nodes use, so they are in Node-RED's words only. */
export const nodes = {
  configMissing: {
    code: "ERR_CONFIG",
    text: "No __what__ is selected. Open this node, select one and deploy.",
    hint: "Select a config node in the dialog, or name one in the message.",
  },
  configNewer: {
    code: "ERR_CONFIG",
    text: "This node was saved by a newer version of @dimflow/node-red-dimensioner than the one that is installed. Update it in Manage palette.",
    hint: "An older version cannot know what the newer settings mean.",
  },
  configChoice: {
    code: "ERR_CONFIG",
    text: "“__value__” is not a valid choice for the setting “__field__”. Choose one of these: __choices__.",
    hint: "Open the node, choose again and deploy.",
  },
  inputExpression: {
    code: "ERR_INPUT",
    text: "__field__ could not be evaluated: __problem__ Nothing was sent.",
    hint: "Correct the expression in this node.",
  },
  inputScanEmpty: {
    code: "ERR_INPUT",
    text: "The scan is empty, so there is no transaction reference. Nothing was sent; scan again.",
    hint: "The reference is msg.transactionReference or, without it, a string or a number in msg.payload.",
  },
  inputMeasuredBy: {
    code: "ERR_INPUT",
    text: "This local measurement does not say which device made it: msg.measuredBy is missing. Pass on the message of the measure node as it is, or set a transaction ID.",
    hint: "The measure node sets msg.measuredBy. A Function node that creates a new message loses it.",
  },
  inputNothing: {
    code: "ERR_INPUT",
    text: "There is nothing to archive: the message has no measurement and no media, and no cloud is selected. Connect this node after measure, remote trigger or transaction in, or select a cloud.",
    hint: "Send the message of a measure, remote trigger or transaction in node, or put media in msg.payload.",
  },
  inputOthersVideo: {
    code: "ERR_INPUT",
    text: "The message brings a video of another parcel: msg.video.recording is “__value__”. Nothing was archived. Send the message without this video.",
    hint: "If the video does not come from the device, remove msg.video before the archive node.",
  },
  messageTooDeep: {
    code: "ERR_INPUT",
    text: "The message is nested too deeply for Node-RED to copy it. Remove the properties that are not needed before this node. Nothing was sent.",
    hint: "It has more than 500 levels of objects or arrays.",
  },
  messagesFull: {
    code: "ERR_QUEUE_FULL",
    text: "This node is already processing __most__ messages. Send messages more slowly, or spread them over several nodes. Nothing was sent.",
    hint: "Send the message again when others have finished.",
    retryable: true,
  },
  messagesLarge: {
    code: "ERR_QUEUE_FULL",
    text: "The messages of this node would hold more than __limit__ of data at once. Send messages more slowly, or use files in place of Buffers.",
    hint: "Send the message again when others have finished.",
    retryable: true,
  },
  measureFailed: {
    code: "ERR_MEASURE_FAILED",
    text: "Measurement failed: __problem__. Reposition the parcel and measure again; if no parcel can be measured, check the operating mode.",
    hint: "The complete result is in msg.payload. In Video Only a device never measures.",
  },
  mediaIncomplete: {
    code: "ERR_MEDIA_INCOMPLETE",
    text: "Not all expected media arrived within __seconds__ s; missing: __missing__. Wait longer, or try again later.",
    hint: "Images and videos reach the cloud with a delay. The media that were found are in msg.payload, unless what it held is needed to archive the message again.",
    retryable: true,
  },
  partsIncomplete: {
    code: "ERR_MEDIA_INCOMPLETE",
    text: "Not all expected media arrived within __seconds__ s; missing: __missing__. The media that did arrive are kept in __path__.",
    hint: "Send all parts of the sequence again, or increase the wait. Nothing in that folder is ever deleted automatically.",
    retryable: true,
  },
  messageMediaIncomplete: {
    code: "ERR_MEDIA_INCOMPLETE",
    text: "Not all expected media arrived within __seconds__ s; missing: __missing__. The media of this message are no longer in it, because Node-RED was restarted or the flow was deployed; they are kept in __path__.",
    hint: "Send the original message again, with its media, or increase the wait. Nothing in that folder is ever deleted automatically.",
  },
  partTooLate: {
    code: "ERR_EXPIRED",
    text: "Part __count__ of the sequence arrived after its package was complete, and is not in it. It is still in this message; archive it with a separate message.",
    hint: "Increase the archive node's wait if parts regularly arrive late.",
    retryable: true,
  },
  jobDamaged: {
    code: "ERR_STORE",
    text: "The store's database has damaged data for job __value__. Send the message again. Nothing was deleted; the job's files were left where they are.",
    hint: "Check the disk. dimensioner verify checks the packages.",
  },
  jobUnknown: {
    code: "ERR_STORE",
    text: "The store's database has no open job __value__ any more: an older database was restored, or a standby server has taken over that had not received the job. Send the message again. Media that are nowhere else are kept.",
    hint: "Node-RED's log says where the media are.",
  },
  cancelledKept: {
    code: "ERR_CANCELLED",
    text: "The flow was stopped or redeployed before this was archived. The job is saved and continues automatically; do not send the message again.",
    hint: "When the job is done, this node sends a message with msg.resumed.",
  },
  cancelledTaken: {
    code: "ERR_CANCELLED",
    text: "Another Node-RED with the same store has taken over this job, because this one had no connection to the database for too long. The job continues there; do not send the message again.",
    hint: "When the job is done, the node there sends a message with msg.resumed. Check this computer's connection to the database.",
  },
  archiveFull: {
    code: "ERR_QUEUE_FULL",
    text: "The archive __path__ has too many open jobs (limit: __limit__). Nothing was accepted; send the message again when some of them are done.",
    hint: "The archive node's status and the log show why the open jobs are delayed.",
    retryable: true,
  },
  scanCutOff: {
    code: "ERR_INPUT",
    text: "The end of the scan “__value__” is missing. Scan the label again.",
    hint: "It started with STX, but ETX did not arrive in time. Check the connection of the scanner, and the longest pause set in this node.",
  },
  scanNotAccepted: {
    code: "ERR_INPUT",
    text: "“__value__” is __what__, which is not accepted here. Scan the label of the parcel.",
    hint: "Which codes are accepted is set in the scan node.",
  },
  scanWrong: {
    code: "ERR_INPUT",
    text: "The code “__value__” is damaged: __problem__ Scan the label again.",
    hint: "If other labels work, this label is misprinted. The scan node can also be set to pass on such codes.",
  },
  scanNoReference: {
    code: "ERR_INPUT",
    text: "The code “__value__” does not contain the required reference. Scan the label of the parcel.",
    hint: "Which part becomes the reference is set in the scan node; its dialog shows how a code is read.",
  },
} as const satisfies Record<string, Sentence>;
