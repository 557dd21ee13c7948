import type { ErrorCode, Outcome, Surface } from "./codes.ts";

/**
 * A text that says what happened and what to do next. A name between two underscores on each side is a placeholder;
 * src/errors/interpolation.ts fills it in.
 */
export interface Wording {
  readonly text: string;
  readonly hint: string;
  /**
   * The text in the nodes, which speak of settings, messages and deploying where the library speaks of options and
   * calls.
   */
  readonly inNode?: { readonly text?: string; readonly hint?: string };
}

/** The texts of one kind of failure. */
export interface Sentence extends Wording {
  readonly code: ErrorCode;
  /** Whether the same request may succeed later although nothing was changed. */
  readonly retryable?: true;
  /** The text if a command may have been executed, because then something else is to be done next. */
  readonly unknownOutcome?: Wording;
  /** The text for the cloud, a gateway and a time stamp server: none of them has a power switch or Enable Local API. */
  readonly cloud?: Wording;
}

/** Why a parcel has no billable weight: sentences for the person who handles it. */
const billing = {
  billNoMeasurement: {
    code: "ERR_INPUT",
    text: "This is not a measurement. Pass the result of a measurement, or a transaction record.",
    hint: "It is an object with length, width, height and their unit.",
    inNode: {
      text: "There is no measurement in msg.payload. Connect this node after the node that measures.",
      hint: "It must be the result of measure or remote trigger, or the record of transaction in.",
    },
  },
  billFailed: {
    code: "ERR_NOT_BILLABLE",
    text: "The measurement failed, so there is nothing to bill. Measure the parcel again.",
    hint: "The result says why it failed, in errorCode and errorMessage.",
  },
  billSeveral: {
    code: "ERR_NOT_BILLABLE",
    text: "__count__ objects were measured together, and there is only one weight for all of them. Measure each parcel on its own.",
    hint: "A billable weight applies to one parcel.",
  },
  billSides: {
    code: "ERR_NOT_BILLABLE",
    text: "The measurement does not have all three sides of the parcel. Measure the parcel again.",
    hint: "Length, width and height must be numbers above 0.",
  },
  billComma: {
    code: "ERR_NOT_BILLABLE",
    text: "It is not clear what number “__value__” is. Write it with a decimal point and without a comma, such as 33.02.",
    hint: "A comma with three digits after it can separate decimals or thousands.",
  },
  billLengthUnit: {
    code: "ERR_INPUT",
    text: "The sides are in “__value__”, which is not supported. Set the device to one of these units: __choices__.",
    hint: "The unit of the sides is dimsUnitOfMeasure.",
  },
  billWeightUnit: {
    code: "ERR_INPUT",
    text: "The weight is in “__value__”, which is not supported. Set the scale to one of these units: __choices__.",
    hint: "The unit of the measured weight is weightUnitOfMeasure.",
  },
  billNoWeight: {
    code: "ERR_NOT_BILLABLE",
    text: "The weight of the parcel is missing. Weigh the parcel, and measure it again.",
    hint: "Without the actual weight, it is not certain that the size decides. If the device has no scale, the label's weight can be used, or the size alone.",
    inNode: {
      hint: "Without the actual weight, it is not certain that the size decides. Where the weight comes from is set in this node.",
    },
  },
  billNoLabelWeight: {
    code: "ERR_NOT_BILLABLE",
    text: "The label of the parcel does not show its weight. Scan a label with a weight, or weigh the parcel.",
    hint: "The gross weight is in the elements 330n and 340n of a GS1 code.",
    inNode: { hint: "The weight is in msg.scan.labelWeight, which the scan node reads from a GS1 label." },
  },
  billNotLegal: {
    code: "ERR_NOT_BILLABLE",
    text: "This measurement is not legal for trade, so it must not be billed. Switch the device to Legal for Trade, and measure the parcel again.",
    hint: "The device reported that it did not measure in its Legal for Trade mode.",
  },
  billLegalUnknown: {
    code: "ERR_NOT_BILLABLE",
    text: "It is not known whether this measurement is legal for trade, so it must not be billed. Use a result in which the device itself states it.",
    hint: "The cloud's records do not state it, an earlier device states it for the sides only, and for a weight from another source it is never known.",
  },
  billManual: {
    code: "ERR_NOT_BILLABLE",
    text: "The dimensions of this parcel were entered by hand, so they must not be billed. Measure the parcel with the device.",
    hint: "In the record, isManualDimension is true.",
  },
  billTable: {
    code: "ERR_CONFIG",
    text: "The table of rules __path__ cannot be used: __problem__. Correct the file.",
    hint: "The file docs/weight-table.schema.json says what such a file contains. It is read each time.",
    inNode: {
      text: "The table of rules __path__ cannot be used: __problem__. Correct the file; nothing has to be deployed.",
      hint: "The file docs/weight-table.schema.json says what such a file contains. It is read again with each message.",
    },
  },
  billNoRule: {
    code: "ERR_INPUT",
    text: "No rule of __name__ is known for __value__, the day of this measurement. Use a custom rule.",
    hint: "The rule depends on the day of the measurement. docs/billable-weight.md lists the date from which each rule applies.",
  },
} satisfies Record<string, Sentence>;

/** Errors of a bucket of an S3-compatible object store. */
const buckets = {
  bucketAddress: {
    code: "ERR_CONFIG",
    text: "“__value__” is not the address of a bucket. Write it as s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-central-1.",
    hint: "What is missing in the address comes from the environment: AWS_ENDPOINT_URL_S3 and AWS_REGION. The credentials must not be in it.",
  },
  bucketCredentials: {
    code: "ERR_CONFIG",
    text: "There are no credentials for the bucket. Set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for a profile with keys.",
    hint: "In a container or a virtual machine at AWS, those of its role are used.",
    inNode: {
      text: "There are no credentials for the bucket. Enter the access key in the store, or set the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE for a profile with keys.",
    },
  },
  bucketUnreachable: {
    code: "ERR_STORE",
    text: "The object store __host__ cannot be reached: __problem__. Check the endpoint and the network.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  bucketUnanswered: {
    code: "ERR_STORE",
    text: "The object store __host__ has not responded for __seconds__ s. Check the endpoint and the network.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  bucketSlow: {
    code: "ERR_STORE",
    text: "The object store __host__ was too slow: what was asked for has not arrived within __seconds__ s. Check the network, and whether the object store is overloaded.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  bucketNotTls: {
    code: "ERR_STORE",
    text: "The object store __host__ does not use HTTPS on this port. Write the endpoint with http://, or check the port.",
    hint: "Without HTTPS, others on the network can read and change what is stored.",
    retryable: true,
  },
  bucketOnlyTls: {
    code: "ERR_STORE",
    text: "The object store __host__ uses HTTPS on this port. Write the endpoint with https://, or check the port.",
    hint: "What was sent without HTTPS was not understood there.",
    retryable: true,
  },
  bucketTls: {
    code: "ERR_STORE",
    text: "No secure connection to the object store __host__: __problem__. Check the endpoint and the certificate. For a private certificate authority, set the environment variable NODE_EXTRA_CA_CERTS to the path of its file.",
    hint: "Node.js reads this variable when the program starts.",
    retryable: true,
    inNode: { hint: "Node.js reads this variable when Node-RED starts." },
  },
  bucketMissing: {
    code: "ERR_STORE",
    text: "__host__ has no bucket __name__. Check its name, the endpoint and the region, or create it.",
    hint: "Buckets are not created automatically.",
    retryable: true,
  },
  bucketTwice: {
    code: "ERR_STORE",
    text: "The endpoint already contains the name of the bucket, so that __host__ was asked for a bucket __name__ in the bucket __name__. Remove the name from the endpoint.",
    hint: "The endpoint is the address of the object store alone, such as https://s3.example.com.",
    retryable: true,
  },
  bucketDenied: {
    code: "ERR_STORE",
    text: "The object store denies access to __path__: __problem__. Check the access key and its rights.",
    hint: "Listing the bucket and reading its objects must be allowed; to copy packages there, also writing them.",
    retryable: true,
  },
  bucketExpired: {
    code: "ERR_STORE",
    text: "The credentials for __path__ have expired. Log in again, or get new ones.",
    hint: "Temporary credentials from environment variables cannot be renewed by this program.",
    retryable: true,
  },
  bucketClock: {
    code: "ERR_STORE",
    text: "The object store refuses requests because its clock and that of this computer differ by about __count__ min. Set the clock of this computer.",
    hint: "Requests are signed with the time. A time server keeps the clock right.",
    retryable: true,
  },
  bucketRegion: {
    code: "ERR_STORE",
    text: "The bucket __name__ is in the region __value__. Specify that region.",
    hint: "The region is a part of the address, or the environment variable AWS_REGION.",
  },
  bucketBusy: {
    code: "ERR_STORE",
    text: "The object store __host__ was too busy to serve a request, also when it was repeated: __problem__. Try again later.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  bucketFull: {
    code: "ERR_STORE",
    text: "The object store has no room left for __path__: __problem__. Ask its administrator to make room, or to raise the quota.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  bucketNoLock: {
    code: "ERR_STORE",
    text: "The bucket __name__ cannot protect objects from being deleted: __problem__. Nothing was stored. Use a bucket with Object Lock, or store without a retention time.",
    hint: "Object Lock is enabled when a bucket is created, or later together with versioning.",
  },
  bucketNotRetained: {
    code: "ERR_STORE",
    text: "__path__ has stored __name__, but not protected it from being deleted: its retention (Object Lock) is not there when it is read back, and cannot be set. Nothing is called archived for as long. Give the access key the rights s3:PutObjectRetention and s3:GetObjectRetention. If it has them, this object store does not keep its promise: use another one, or store without a retention time.",
    hint: "It is read back for each object.",
    retryable: true,
  },
  uploadRemoved: {
    code: "ERR_STORE",
    text: "An upload was removed before it was complete, because it had made no progress for a day. It is repeated.",
    hint: "Nothing is lost.",
    retryable: true,
  },
  bucketProtected: {
    code: "ERR_STORE",
    text: "The object store protects an object of __path__ from being deleted: __problem__. It can be deleted when the protection has ended.",
    hint: "Object Lock and retention rules apply either to a whole bucket or to single objects from when they were stored.",
  },
  bucketFailed: {
    code: "ERR_STORE",
    text: "The object store __host__ reports an error for __path__: __problem__. Check that it is compatible with S3.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
} satisfies Record<string, Sentence>;

const checkCloud = "Check the address, the network and the firewall.";
const proxy = {
  hint: "If the internet is only reachable through a proxy, set the proxyUrl option.",
  inNode: {
    hint: "If the internet is only reachable through a proxy, select it where the address is set.",
  },
} as const;

/** Connections that cannot be made, take too long or break. */
const connections = {
  unreachableRefused: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__: it refuses connections. Check the address, the power and, on a newer device, Enable Local API.",
    hint: "On a newer device, Enable Local API is off until it is turned on and saved in its configuration portal.",
    retryable: true,
    cloud: { text: `No connection to __host__: it refuses connections. ${checkCloud}`, ...proxy },
  },
  unreachableHost: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__: this host name is unknown. Check the address for typing errors, and the network.",
    hint: "An IP address works without a DNS server.",
    retryable: true,
  },
  unreachableLocal: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__: names that end in .local are found by mDNS, and this computer does not find this one. Enter the IP address of the device.",
    hint: "In a container, mDNS does not work in most cases.",
    retryable: true,
  },
  unreachableContainer: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__: this program runs in a container, where this address means the container itself. Enter the address of the computer that is meant.",
    hint: "With Docker, the computer itself is often host.docker.internal.",
    retryable: true,
    inNode: {
      text: "No connection to __host__: Node-RED runs in a container, where this address means the container itself. Enter the address of the computer that is meant.",
    },
  },
  unreachableSilent: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__ within __seconds__ s. Check the address, the network cable and the power.",
    hint: "A firewall that drops packets has the same effect.",
    retryable: true,
    cloud: { text: `No connection to __host__ within __seconds__ s. ${checkCloud}`, ...proxy },
  },
  unreachableNotTls: {
    code: "ERR_UNREACHABLE",
    text: "__host__ does not use HTTPS on this port. Enter the address with http://, or check the port.",
    hint: "The device's API uses http unless something in front of it adds https.",
    cloud: {
      text: "__host__ does not use HTTPS on this port. Check the address and the port.",
      hint: "The cloud's address begins with https:// and usually has no port.",
    },
  },
  unreachableTls: {
    code: "ERR_UNREACHABLE",
    text: "No secure connection to __host__: __problem__. Check the address and the device's certificate.",
    hint: "To make Node.js trust a private certificate authority, name its file in the environment variable NODE_EXTRA_CA_CERTS.",
    cloud: {
      text: "No secure connection to __host__: __problem__. Check the address and the TLS settings.",
      hint: "The tls option takes the certificate of a private certificate authority.",
      inNode: { hint: "To trust a private certificate authority, add it with a tls-config node." },
    },
  },
  unreachableProxy: {
    code: "ERR_UNREACHABLE",
    text: "The proxy does not connect to __host__: __problem__. Check the proxy's address and credentials.",
    hint: "The proxy is set by the proxyUrl option.",
    inNode: {
      hint: "The proxy is set where the address is set, or by the environment's proxy variables.",
    },
    retryable: true,
  },
  unreachableOther: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__: __problem__. Check the network.",
    hint: "Nothing was sent.",
    retryable: true,
  },
  timeout: {
    code: "ERR_TIMEOUT",
    text: "No complete response from __host__ within __seconds__ s. Try again; if this happens often, check the network.",
    hint: "The limit is the timeoutMs option.",
    inNode: { hint: "The limit is the timeout in the config node." },
    retryable: true,
    unknownOutcome: {
      text: "No complete response from __host__ within __seconds__ s. Check the device before you try again: it may have acted.",
      hint: "The limit is the timeoutMs option.",
      inNode: { hint: "The limit is the timeout in the config node." },
    },
  },
  stalled: {
    code: "ERR_TIMEOUT",
    text: "The download from __host__ stopped: hardly any data for __seconds__ s. Try again; if this happens often, check the network.",
    hint: "For downloads, the timeoutMs option is the longest pause between data.",
    inNode: { hint: "For downloads, the timeout in the config node is the longest pause between data." },
    retryable: true,
  },
  connectionLost: {
    code: "ERR_CONNECTION_LOST",
    text: "The connection to __host__ was lost before the response was complete. Try again; if this happens often, check the network.",
    hint: "The data received so far was discarded.",
    retryable: true,
    unknownOutcome: {
      text: "The connection to __host__ was lost before the response was complete. Check the device before you try again: it may have acted.",
      hint: "Check the network, and whether the device has restarted.",
    },
  },
  connectionShort: {
    code: "ERR_CONNECTION_LOST",
    text: "The response from __host__ broke off (__problem__). Try again; if this happens often, check the network and the software of the device.",
    hint: "Its length was announced, and less has arrived.",
    retryable: true,
    unknownOutcome: {
      text: "The response from __host__ broke off (__problem__). Check the device before you try again: it may have acted.",
      hint: "Its length was announced, and less has arrived.",
    },
  },
  connectionUnanswered: {
    code: "ERR_CONNECTION_LOST",
    text: "__host__ closed the connection without an answer. Try again; if this happens each time, check the port, and whether it needs https:// in the address.",
    hint: "A server that expects HTTPS does the same.",
    retryable: true,
    unknownOutcome: {
      text: "__host__ closed the connection without an answer. Check the device before you try again: it may have acted.",
      hint: "If this happens each time, check the port, and whether it needs https:// in the address.",
    },
  },
} satisfies Record<string, Sentence>;

/** Errors of the disk. The hint is the path alone, so that flows find it there. */
const files = {
  fileFull: {
    code: "ERR_FILE",
    text: "The disk is full: __path__ was not saved. Free some space and try again.",
    hint: "__path__",
    retryable: true,
  },
  fileNoInodes: {
    code: "ERR_FILE",
    text: "The disk cannot take another file, whatever space it has (no inodes are left): __path__ was not saved. Delete files or use another disk.",
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
  folderEmptied: {
    code: "ERR_FILE",
    text: "The folder __path__ is there, but the log of this store is not in it. Mount its share or disk. If the log was deleted, run dimensioner rebuild.",
    hint: "__path__",
    retryable: true,
  },
  packagesUnknown: {
    code: "ERR_FILE",
    text: "Whether __path__ has a package of this parcel already is not known yet. This is checked again automatically.",
    hint: "__path__",
    retryable: true,
  },
  spoolFull: {
    code: "ERR_FILE",
    text: "__path__ has __what__ that could not be brought to __name__ yet, and takes no more than __limit__. Make __name__ reachable again; everything else happens automatically.",
    hint: "__path__",
    retryable: true,
  },
  spoolReserve: {
    code: "ERR_FILE",
    text: "The disk of __path__ has only __what__ left, and __limit__ of it stay free. Free some space, or make __name__ reachable again: what waits for it is on this disk.",
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
} satisfies Record<string, Sentence>;

/** Sentences that only the nodes use, so they are in Node-RED's words only. */
export const nodes = {
  configMissing: {
    code: "ERR_CONFIG",
    text: "No __what__ is selected. Open this node, select one and deploy.",
    hint: "Select a config node in the dialog, or name one in the message.",
  },
  configDisabled: {
    code: "ERR_CONFIG",
    text: "The selected __what__ is disabled. Enable its config node, or select another one in this node, and deploy.",
    hint: "Config nodes are in the editor's sidebar, under Configuration nodes.",
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
  webhookTaken: {
    code: "ERR_CONFIG",
    text: "A post to __path__ did not reach this node: another node has the same path (__value__). Give one of them another path.",
    hint: "Only one node gets what is posted to a path, here the other one.",
  },
  inputContextSilent: {
    code: "ERR_INPUT",
    text: "__field__ could not be read: its context store did not answer within __seconds__ s. Nothing was sent.",
    hint: "Check contextStorage in settings.js and the server behind it, then send the message again.",
  },
  inputExpression: {
    code: "ERR_INPUT",
    text: "__field__ could not be evaluated: __problem__ Nothing was sent.",
    hint: "Correct the expression in this node.",
  },
  inputScanEmpty: {
    code: "ERR_INPUT",
    text: "The scan is empty, so there is no transaction reference. Nothing was sent; scan again.",
    hint: "The reference is msg.transactionReference or, without it, a string, a number or a Buffer of text in msg.payload.",
  },
  inputMeasuredBy: {
    code: "ERR_INPUT",
    text: "This local measurement does not say which device made it: msg.measuredBy is missing. Pass on the message of the measure node as it is, or set a transaction ID.",
    hint: "The measure node sets msg.measuredBy. A Function node that creates a new message loses it.",
  },
  inputNotMeasured: {
    code: "ERR_INPUT",
    text: "The measurement is not on the message any more, or not all of it: msg.transactionId and msg.measuredBy are missing. Pass on the message of measure, remote trigger or transaction in as it is, or set a transaction ID.",
    hint: "A Function node keeps them if it changes msg and returns it (return msg) in place of a new message with only a payload.",
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
  packageTooLarge: {
    code: "ERR_FILE",
    text: "The package would have __count__ media and could not be read again, so it was not made. Nothing was deleted; the media stay with the job.",
    hint: "Let the archive node take fewer media: name the content types that are needed, or send the media in several messages.",
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
  cancelledEnd: {
    code: "ERR_CANCELLED",
    text: "Node-RED ended while this command was running. Check the device before you try again: it may have acted.",
    hint: "The store has kept the command and its message. If something of the message could not be kept, msg.leftOut names it.",
  },
  cancelledWaiting: {
    code: "ERR_CANCELLED",
    text: "Node-RED ended while this command was waiting for its turn. It was not sent. Send it again if it is still needed.",
    hint: "The store has kept the command and its message. If something of the message could not be kept, msg.leftOut names it.",
  },
  cancelledMeasured: {
    code: "ERR_CANCELLED",
    text: "Node-RED ended before the response to this measurement arrived, but the device has measured: the record from the cloud is transaction __value__. Do not measure again.",
    hint: "Its record comes from the transaction in node. The exact response of the device is lost.",
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
  scanSeparatorLost: {
    code: "ERR_INPUT",
    text: "The scanner drops the separators of the code “__value__”, so its elements cannot be told apart. Set the scanner to send FNC1 as GS (character 29).",
    hint: "The manual of the scanner calls the setting “transmit FNC1”, “send GS” or “GS1 group separator”. Scanning again does not help.",
  },
  scanKeyboard: {
    code: "ERR_INPUT",
    text: "The code “__value__” is a right one, “__words__”, only if the scanner types like a US keyboard and the computer has the layout __name__. Nothing was corrected: give both the same keyboard layout.",
    hint: "The manual of the scanner calls the setting “keyboard layout” or “country”; the US layout is its usual one. Scanning again does not help.",
  },
  scanNoReference: {
    code: "ERR_INPUT",
    text: "The code “__value__” does not contain the required reference. Scan the label of the parcel.",
    hint: "Which part becomes the reference is set in the scan node; its dialog shows how a code is read.",
  },
} satisfies Record<string, Sentence>;

/** Errors of a store's database in PostgreSQL. */
const postgres = {
  postgresAddress: {
    code: "ERR_CONFIG",
    text: "“__value__” is not the address of a PostgreSQL database. Write it as postgres://user@host:5432/database.",
    hint: "What is missing in the address comes from the environment: PGHOST, PGPORT, PGUSER and PGDATABASE.",
  },
  postgresPassword: {
    code: "ERR_CONFIG",
    text: "The address of the database contains a password, which others on this computer could read. Remove it from the address, and set the environment variable PGPASSWORD or use a password file.",
    hint: "PGPASSFILE names the password file; otherwise it is .pgpass in the user's home directory.",
  },
  postgresHosts: {
    code: "ERR_CONFIG",
    text: "“__value__” names several hosts. A store connects to one: use a name or an address that always leads to the server that accepts changes, such as that of a load balancer.",
    hint: "The other servers take over behind that name when the first one fails.",
  },
  postgresUnreachable: {
    code: "ERR_STORE",
    text: "The database __path__ cannot be reached: __problem__. Check its address, and that the server is running and accepts connections from this computer.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  postgresUnanswered: {
    code: "ERR_STORE",
    text: "The database __path__ has not responded for __seconds__ s. Check its address, the network, and whether the server is overloaded.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  postgresTls: {
    code: "ERR_STORE",
    text: "No secure connection to the database __path__: __problem__. Check the server's certificate. For a private certificate authority, append sslrootcert with the path of its file to the address.",
    hint: "The file contains the certificate of the authority in PEM form.",
    retryable: true,
  },
  postgresTlsMode: {
    code: "ERR_STORE",
    text: "No secure connection to the database __path__: __problem__. sslmode=__value__ verifies the server's certificate and its name here, as verify-full does. For a private certificate authority, append sslrootcert with the path of its file to the address, and use the host name that is in the certificate.",
    hint: "With sslmode=no-verify the connection is encrypted but the server is not verified: somebody in the network could pretend to be it.",
    retryable: true,
  },
  postgresMissing: {
    code: "ERR_STORE",
    text: "There is no database __path__. Check its name in the address, or create it on the server.",
    hint: "Only the tables are created automatically.",
    retryable: true,
  },
  postgresLogin: {
    code: "ERR_STORE",
    text: "The database __path__ does not accept the user: __problem__. Check the user name and the password.",
    hint: "The password comes from the environment variable PGPASSWORD, or from a password file.",
    inNode: {
      hint: "If the password is blank in the store, it comes from the environment variable PGPASSWORD, or from a password file.",
    },
  },
  postgresNotAllowed: {
    code: "ERR_STORE",
    text: "The server of the database __path__ does not allow this connection: __problem__. Encrypt it if the server demands that, or have its administrator allow this user, database and computer (pg_hba.conf).",
    hint: "A connection is encrypted with sslmode=verify-full in an address, or with a TLS configuration in a store.",
  },
  postgresDenied: {
    code: "ERR_STORE",
    text: "The user has too few rights in the database __path__: __problem__. Ask its administrator for them, or to create the schema __name__ and make this user its owner.",
    hint: "The user need not be a superuser.",
  },
  postgresOld: {
    code: "ERR_STORE",
    text: "The server of the database __path__ is PostgreSQL __value__. Use version __least__ or later.",
    hint: "Earlier versions are not maintained any more.",
  },
  postgresSettings: {
    code: "ERR_STORE",
    text: "Settings that a store needs do not arrive at the database __path__: __value__. Something in between, such as a connection pooler, drops them. Connect to PostgreSQL directly, or have its administrator set them for this user.",
    hint: "Without them, what two programs do at the same time could be done twice.",
  },
  postgresProtocol: {
    code: "ERR_STORE",
    text: "What answers for the database __path__ does not do so as PostgreSQL does, and the connection was closed. Check the host and the port.",
    hint: "Another program may be listening on this port, or a proxy may be in between.",
    retryable: true,
  },
  postgresLong: {
    code: "ERR_STORE",
    text: "The database __path__ sent more than __limit__ at once, and the connection was closed. Check that the host and the port are those of your PostgreSQL server, and what other programs have written to its tables.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
  postgresPlainLogin: {
    code: "ERR_STORE",
    text: "The server of the database __path__ asks for the password by the method “__name__”, from which others on the network could learn it. It was not sent. Encrypt the connection (sslmode=verify-full), or have the server's administrator switch to scram-sha-256. To send it nevertheless, append require_auth=__name__ to the address.",
    hint: "The environment variable PGREQUIREAUTH does the same as require_auth.",
    inNode: {
      text: "The server of the database __path__ asks for the password by the method “__name__”, from which others on the network could learn it. It was not sent. Select a TLS configuration in the store, or have the server's administrator switch to scram-sha-256. To send it nevertheless, set the environment variable PGREQUIREAUTH to __name__.",
      hint: "A TLS configuration encrypts the connection. It must verify the server's certificate.",
    },
  },
  postgresLoginMethod: {
    code: "ERR_STORE",
    text: "The server of the database __path__ has clients log in by the method “__name__”, but require_auth allows only: __value__. Change it in the address or in the environment variable PGREQUIREAUTH, or the method on the server.",
    hint: "The password was not sent.",
  },
  postgresPooler: {
    code: "ERR_STORE",
    text: "A connection pooler in front of the database __path__ refuses the settings that a store needs: __problem__. Connect to PostgreSQL directly, or have the pooler ignore them (ignore_startup_parameters) and the administrator of the database set them for this user.",
    hint: "These settings are listed in docs/fleet.md.",
  },
  postgresEncoding: {
    code: "ERR_STORE",
    text: "The database __path__ has the encoding __value__, which cannot keep all texts. Create a database with the encoding UTF8, and use that one.",
    hint: "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0 creates one. The encoding of a database cannot be changed.",
  },
  postgresNoTables: {
    code: "ERR_STORE",
    text: 'The database __path__ has no tables of a store. Check the address, or make them from the packages: run dimensioner rebuild "folder of the packages" --database "__path__".',
    hint: "The tables are in the schema dimensioner of the database.",
  },
  postgresFailed: {
    code: "ERR_STORE",
    text: "The database __path__ reports an error: __problem__. Nothing was changed. Check the log of its server.",
    hint: "Everything that was stored before is safe.",
    retryable: true,
  },
} satisfies Record<string, Sentence>;

/** Requests that a device or the cloud refuses, and what it does not have. */
const refusals = {
  unauthorized: {
    code: "ERR_UNAUTHORIZED",
    text: "The cloud rejected the token. Create a new one in the cloud portal.",
    hint: "Tokens can expire or be revoked in the portal.",
    inNode: {
      text: "The cloud rejected the token. Create a new one in the cloud portal and enter it in the cloud config node.",
    },
  },
  wrongMode: {
    code: "ERR_WRONG_MODE",
    text: "The device's operating mode does not allow this video request. Select a video mode in the device's portal.",
    hint: "Stop works only in Video Only; outside the video modes the device rejects every video request.",
  },
  wrongModeStop: {
    code: "ERR_WRONG_MODE",
    text: "The device's operating mode does not allow stop. Use stop in Video Only; in Video with Measurement, a measurement ends the recording.",
    hint: "Cancel ends a recording in both video modes and deletes it.",
  },
  badDeviceReference: {
    code: "ERR_BAD_DEVICE_REFERENCE",
    text: "The cloud rejected this request for device “__reference__”. Check its registration code and its operating mode.",
    hint: "The device must be registered and connected; video needs a video mode, and stop needs Video Only.",
  },
  deviceTimeout: {
    code: "ERR_DEVICE_TIMEOUT",
    text: "Device “__reference__” did not answer the cloud in time. Check the device before you try again: it may have acted.",
    hint: "Check that the device is on and connected to the cloud.",
  },
  noVideo: {
    code: "ERR_NO_VIDEO",
    text: "No video is saved on the device. Record and stop one in Video Only, or wait longer if it is still being encoded.",
    hint: "After a successful measurement the video is in the cloud. If other requests fail too, check Enable Local API.",
    retryable: true,
  },
  notFound: {
    code: "ERR_NOT_FOUND",
    text: "__host__ does not offer this request. Turn on Enable Local API in the device's portal and check the generation.",
    hint: "Either Enable Local API is off, or the device is of another generation (newer or earlier).",
    inNode: {
      text: "__host__ does not offer this request. Turn on Enable Local API in the device's portal and check the generation in the device config node.",
    },
    cloud: {
      text: "__host__ has nothing at __path__. Check the ID and the address.",
      hint: "Images and videos reach the cloud with a delay.",
    },
  },
  notFoundImage: {
    code: "ERR_NOT_FOUND",
    text: "__host__ does not have this image. Check the image identifier and, if other requests fail too, Enable Local API.",
    hint: "The image identifier comes with the measurement's result; the generation (newer or earlier) must match the device.",
  },
  queueFull: {
    code: "ERR_QUEUE_FULL",
    text: "The queue for this device is full (waiting: __limit__). Nothing was sent; try again later.",
    hint: "The limit is the queueLimit option.",
    inNode: { hint: "The queue limit is set in the config node." },
    retryable: true,
  },
  expired: {
    code: "ERR_EXPIRED",
    text: "This command waited longer than __seconds__ s and was dropped: another parcel may be on the table by now. Scan again if it is still needed.",
    hint: "The limit is the maxWaitMs option.",
    inNode: { hint: "How long a command may wait is set in the config node." },
    retryable: true,
  },
  cancelledReset: {
    code: "ERR_CANCELLED",
    text: "This was cancelled by a reset while it was waiting. Send it again if it is still needed.",
    hint: "Nothing was sent.",
    inNode: { hint: "A message with msg.reset cancels what is waiting in a node." },
    retryable: true,
  },
  cancelledClose: {
    code: "ERR_CANCELLED",
    text: "The call was aborted, or its client was closed, before this finished. Call again if it is still needed.",
    hint: "Aborting the signal or closing the client ends what is running.",
    inNode: {
      text: "The flow was stopped or redeployed before this finished. Send it again if it is still needed.",
      hint: "Stopping or redeploying a flow ends what is running.",
    },
    retryable: true,
    unknownOutcome: {
      text: "The call was aborted, or its client was closed, while this command was running. Check the device before you try again: it may have acted.",
      hint: "Ending a request does not undo what the device has begun.",
      inNode: {
        text: "The flow was stopped or redeployed while this command was running. Check the device before you try again: it may have acted.",
      },
    },
  },
} satisfies Record<string, Sentence>;

/** Responses that are not what the API promises. */
const responses = {
  http: {
    code: "ERR_HTTP",
    text: "__host__ answered with HTTP status __statusCode__. Check the address, or ask its administrator.",
    hint: "The log of the device or the cloud may say more.",
    unknownOutcome: {
      text: "__host__ answered with HTTP status __statusCode__. Check the device before you try again: it may have acted.",
      hint: "The log of the device or the cloud may say more.",
    },
  },
  httpBusy: {
    code: "ERR_HTTP",
    text: "__host__ cannot answer right now (HTTP status __statusCode__). Try again later.",
    hint: "It is overloaded, restarting or out of order.",
    retryable: true,
    unknownOutcome: {
      text: "__host__ cannot answer right now (HTTP status __statusCode__). Check the device before you try again: it may have acted.",
      hint: "It is overloaded, restarting or out of order.",
    },
  },
  redirect: {
    code: "ERR_HTTP",
    text: "__host__ redirects to another address (HTTP status __statusCode__), which is never followed. Use the correct address.",
    hint: "Usual causes are a sign-in page of the network, and http where https is required.",
    inNode: {
      text: "__host__ redirects to another address (HTTP status __statusCode__), which is never followed. Enter the correct address.",
    },
  },
  responseNotHttp: {
    code: "ERR_BAD_RESPONSE",
    text: "The service at __host__ does not use HTTP. Check the address and the port.",
    hint: "Another service may use this port, or it may need https://.",
  },
  responseOnlyTls: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ uses HTTPS on this port. Enter the address with https://, or check the port.",
    hint: "What was sent without HTTPS was not understood there.",
  },
  responseBroken: {
    code: "ERR_BAD_RESPONSE",
    text: "What answers at __host__ speaks broken HTTP: __problem__. Update its software, or that of a gateway in between.",
    hint: "The address is that of an HTTP server.",
    unknownOutcome: {
      text: "What answers at __host__ speaks broken HTTP: __problem__. Check the device before you try again: it may have acted.",
      hint: "Update the software of the device, or that of a gateway in between.",
    },
  },
  responseNotJson: {
    code: "ERR_BAD_RESPONSE",
    text: "The response from __host__ cannot be read: __problem__. Check the address.",
    hint: "The API promises JSON in UTF-8.",
  },
  responseHtml: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ answered with a web page. Check the address, and whether the network requires a sign-in.",
    hint: "A sign-in page of the network or another server at this address answers like this.",
  },
  responseXml: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ answered with XML instead of what its API promises. Check the address, and what answers there.",
    hint: "A proxy, a gateway or a service of another kind at this address answers like this.",
  },
  responseFaulty: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ answered, but the response has a fault: __problem__. Try again, and if it stays, tell its manufacturer.",
    hint: "The API promises JSON in UTF-8.",
    unknownOutcome: {
      text: "__host__ has measured, but the response has a fault: __problem__. The response is on the error as rawResponse. Check it and the parcel before you measure again.",
      hint: "The API promises JSON in UTF-8. Tell the manufacturer if it happens again.",
      inNode: {
        text: "__host__ has measured, but the response has a fault: __problem__. The response is in msg.rawResponse. Check it and the parcel before you measure again.",
      },
    },
  },
  responseShape: {
    code: "ERR_BAD_RESPONSE",
    text: "The response from __host__ is not what its API promises: __problem__. Check the address and the generation.",
    hint: "A new software version of the device may have changed its responses.",
    cloud: {
      text: "The response from __host__ is not what its API promises: __problem__. Check the address.",
      hint: "A new version of the cloud may have changed its responses.",
    },
  },
  responseEmpty: {
    code: "ERR_BAD_RESPONSE",
    text: "The response from __host__ is empty. Check the address and the generation.",
    hint: "The API promises content here.",
    cloud: {
      text: "The response from __host__ is empty. Check the address.",
      hint: "The API promises content here.",
    },
  },
  responsePartial: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ sent only a part (__problem__), although everything was requested. Nothing was kept; try again.",
    hint: "A cache or a proxy on the way can cause this.",
    unknownOutcome: {
      text: "__host__ sent only a part (__problem__), although everything was requested. Check the device before you try again: it may have acted.",
      hint: "A cache or a proxy on the way can cause this.",
    },
  },
  responseEncoded: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ sent its response compressed (“__problem__”), which was not requested, and it cannot be decompressed. Turn off compression in the proxy on the way.",
    hint: "Some proxies compress responses.",
  },
  responseFailed: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ answered that this has failed: __problem__. Check there what is wrong, and try again.",
    hint: "Its HTTP status is one of success, but its answer has an error.",
    retryable: true,
  },
  responseDocument: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ answered with __what__ instead of an image or a video: __problem__. Nothing was kept; try again.",
    hint: "The file may not exist any more, or something else answers at this address, such as the sign-in page of a network.",
    retryable: true,
  },
  responseLonger: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ sent more than the __total__ bytes that it had announced. Nothing was kept; try again.",
    hint: "A cache or a proxy on the way can cause this.",
    retryable: true,
  },
  responseUnfinished: {
    code: "ERR_BAD_RESPONSE",
    text: "The data from __host__ is incomplete: __problem__. Nothing was kept; try again.",
    hint: "Its length was not announced, and its end is missing.",
    retryable: true,
  },
  recordShape: {
    code: "ERR_BAD_RESPONSE",
    text: "This is not a transaction record: __problem__. Pass on the body as the webhook received it.",
    hint: "The cloud posts one record in JSON for each measurement.",
  },
  jsonTooLarge: {
    code: "ERR_TOO_LARGE",
    text: "The response from __host__ is too large: __problem__. Check the address.",
    hint: "A measurement has fewer than a hundred values, and an item of a list fewer than 25.",
  },
  tooLarge: {
    code: "ERR_TOO_LARGE",
    text: "The response from __host__ is larger than __limit__. Save it to a file, or check the address.",
    hint: "Files have no size limit.",
  },
} satisfies Record<string, Sentence>;

/** What can be wrong with a scan: sentences for the person who holds the scanner. */
const scans = {
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
} satisfies Record<string, Sentence>;

/** Options, settings and values that are not valid, so that nothing was sent. */
const settings = {
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
} satisfies Record<string, Sentence>;

/** Errors of a store's database. */
const stores = {
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
  pruneNoDatabase: {
    code: "ERR_CONFIG",
    text: "Nothing was deleted: the database of the store has to be specified, or its store file. It says what is due, and each deletion has to be in its log.",
    hint: "See dimensioner prune --help for both ways.",
  },
  pruneBucketSpace: {
    code: "ERR_CONFIG",
    text: "Nothing was deleted: nothing says how much of the bucket __name__ is free, because it has no end. Limit what the packages use instead.",
    hint: "Set “Use at most” for it; on the command line, it is --use-at-most.",
  },
  pruneClock: {
    code: "ERR_CONFIG",
    text: "Nothing was deleted: the clock of this computer says __words__, and the newest package is of __value__. Check the clock. If it is right, run dimensioner prune with --despite-clock.",
    hint: "With a clock that is ahead, everything looks old.",
    inNode: {
      text: "Nothing was deleted: the clock of this computer says __words__, and the newest package is of __value__. Check the clock. If it is right, set “Delete despite the clock” in the evidence node for one run, or run dimensioner prune with --despite-clock.",
      hint: "With a clock that is ahead, everything looks old.",
    },
  },
  pruneOtherClock: {
    code: "ERR_CONFIG",
    text: "Nothing was deleted: the clock of this computer says __words__, and that of the database __value__. Check both. If that of this computer is right, run dimensioner prune with --despite-clock.",
    hint: "With a clock that is ahead, everything looks old.",
    inNode: {
      text: "Nothing was deleted: the clock of this computer says __words__, and that of the database __value__. Check both. If that of this computer is right, set “Delete despite the clock” in the evidence node for one run, or run dimensioner prune with --despite-clock.",
      hint: "With a clock that is ahead, everything looks old.",
    },
  },
  pruneStoreClock: {
    code: "ERR_CONFIG",
    text: "Nothing was deleted: the clock of this computer says __words__, and that of the object store __value__. Check both. If that of this computer is right, run dimensioner prune with --despite-clock.",
    hint: "With a clock that is ahead, everything looks old.",
    inNode: {
      text: "Nothing was deleted: the clock of this computer says __words__, and that of the object store __value__. Check both. If that of this computer is right, set “Delete despite the clock” in the evidence node for one run, or run dimensioner prune with --despite-clock.",
      hint: "With a clock that is ahead, everything looks old.",
    },
  },
  pruneNearlyAll: {
    code: "ERR_CONFIG",
    text: "Nothing was deleted: __count__ of __total__ packages are old enough by the clock of this computer, which says __words__. Check the clock and the age. If both are right, run dimensioner prune with --despite-clock once.",
    hint: "With a clock that is ahead, everything looks old.",
    inNode: {
      text: "Nothing was deleted: __count__ of __total__ packages are old enough by the clock of this computer, which says __words__. Check the clock and the age. If both are right, set “Delete despite the clock” in the evidence node for one run, or run dimensioner prune with --despite-clock once.",
      hint: "With a clock that is ahead, everything looks old.",
    },
  },
  prunePartSpace: {
    code: "ERR_CONFIG",
    text: "Nothing was deleted: space is a matter of the whole archive. Name __path__, not a part of it.",
    hint: "Because of their age, packages of a part can be deleted as well.",
  },
  rebuildNoLog: {
    code: "ERR_STORE",
    text: "There is no log beside the packages in __path__, so it is not known which packages were archived, held and deleted. Restore the folder .dimensioner-archive/log from a backup or a copy. Only if it is lost for good, begin a new one with --new-log.",
    hint: "A new log does not know what happened before it.",
  },
  rebuildWhichLog: {
    code: "ERR_STORE",
    text: "The logs of these stores lie beside the packages in __path__: __value__. Nothing was changed. Specify with --log from which one the database __name__ is to be made. A database that is whole can only be completed from the log of its own store.",
    hint: "Each store has a log and a database of its own.",
  },
  rebuildHasLog: {
    code: "ERR_STORE",
    text: "There is a log, beside the packages in __path__ or in the database __name__. Nothing was changed. Run the command without --new-log.",
    hint: "A new log is only for packages whose log was lost.",
  },
  copyFolder: {
    code: "ERR_CONFIG",
    text: "The packages in __name__ cannot be copied to __path__. Nothing was copied. Choose a folder outside of them that is empty, or to which they were copied before.",
    hint: "The folder is created if only its last part is missing.",
  },
  logDiffers: {
    code: "ERR_STORE",
    text: "The log beside the packages (__path__) and the one in the database differ at line __count__. Nothing is archived. Run dimensioner verify with the database to see what was changed.",
    hint: "A database from a backup takes the later lines by itself. Here a line is another one.",
  },
  logGap: {
    code: "ERR_STORE",
    text: "The log in the database lacks the line __count__: it was damaged or changed. Verify the archive to see what is wrong.",
    hint: "The same log is beside the packages.",
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
  evidenceSeveral: {
    code: "ERR_INPUT",
    text: "Packages of several parcels were found for “__value__”. Nothing was changed. Use a more specific value, such as the package ID.",
    hint: "A number is added to one parcel only.",
  },
  evidenceManyNumbers: {
    code: "ERR_INPUT",
    text: "The package __path__ would have more than __most__ added numbers. Nothing was changed. Check which parcel the numbers are for.",
    hint: "A parcel seldom has more than a few numbers.",
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
    hint: "The log of the store is time-stamped, and with it all packages in it.",
  },
  timestampChanged: {
    code: "ERR_STORE",
    text: "The log of the store is not the one that was time-stamped before: one of its first __count__ lines was changed, so it was not time-stamped. Verify the archive to see what is wrong.",
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
  reportLogo: {
    code: "ERR_CONFIG",
    text: "The file of the logo, __path__, cannot be used: __problem__. Specify a PNG or JPEG file of at most __most__ kB.",
    hint: "The logo is above each report of an export. Without one, leave it blank.",
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
} satisfies Record<string, Sentence>;

const entries = {
  ...settings,
  ...connections,
  ...refusals,
  ...responses,
  ...files,
  ...stores,
  ...postgres,
  ...buckets,
  ...scans,
  ...billing,
  ...nodes,
};

export type SentenceKey = keyof typeof entries;

/** All sentences. The types ensure that no key is in two of the parts. */
export const sentences: Readonly<Record<SentenceKey, Sentence>> = entries;

/** A variant of a sentence; i18next calls this a context. */
type Variant = "cloud" | "unknownOutcome";

/** The key of a text in the catalogs, under `errors` and `hints`. */
export type TextKey = SentenceKey | `${SentenceKey}_${Variant}`;

/** The variant for the surface and the outcome of an error. */
export function wordingOf(
  key: SentenceKey,
  surface: Surface,
  outcome: Outcome | null,
): Wording & { readonly textKey: TextKey } {
  const sentence = sentences[key];
  if (outcome === "unknown" && sentence.unknownOutcome !== undefined) {
    return { ...sentence.unknownOutcome, textKey: `${key}_unknownOutcome` };
  }
  const isService = surface === "cloud" || surface === "timestamp-server";
  if (isService && sentence.cloud !== undefined) {
    return { ...sentence.cloud, textKey: `${key}_cloud` };
  }
  return { ...sentence, textKey: key };
}

/** All texts as the nodes use them, by key: the content of the English catalog. */
export const nodeWordings: ReadonlyMap<TextKey, { readonly text: string; readonly hint: string }> = new Map(
  (Object.keys(sentences) as SentenceKey[]).flatMap((key) => {
    const { cloud, unknownOutcome } = sentences[key];
    const wordings: [TextKey, Wording | undefined][] = [
      [key, sentences[key]],
      [`${key}_cloud`, cloud],
      [`${key}_unknownOutcome`, unknownOutcome],
    ];
    return wordings.flatMap(([textKey, wording]) =>
      wording === undefined
        ? []
        : [[textKey, { text: wording.text, hint: wording.hint, ...wording.inNode }] as const],
    );
  }),
);
