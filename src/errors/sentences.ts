import type { ErrorCode } from "./codes.ts";

/**
 * What can go wrong, in the words of a person at a packing table: what happened, then what to do.
 * `__name__` marks a value that the place that fails fills in (the notation of Node-RED's catalogs); src/fill-in.ts says
 * with what.
 * The catalogs translate each `text` and `hint` under `errors.<key>` and `hints.<key>`; a test holds them equal.
 * `passes` says whether the same request may succeed later with nothing changed.
 */
export interface Sentence {
  readonly code: ErrorCode;
  readonly text: string;
  readonly hint: string;
  readonly passes?: true;
}

const entries = {
  configMissing: {
    code: "ERR_CONFIG",
    text: "No __what__ is set. Open this node, choose one and deploy.",
    hint: "Choose a config node in the dialog, or name one in the message.",
  },
  configInvalid: {
    code: "ERR_CONFIG",
    text: "The __what__ setting “__field__” cannot be used: __problem__ Correct it and deploy.",
    hint: "Open the node that has this setting and correct it.",
  },
  configToken: {
    code: "ERR_CONFIG",
    text: "The cloud connection has no token that can be used. Paste the token from the cloud portal into the cloud config node and deploy.",
    hint: "Tokens are made in the cloud service's portal.",
  },
  configNewer: {
    code: "ERR_CONFIG",
    text: "This node was saved by a newer version of the package than the one that is installed. Update the package under Manage palette.",
    hint: "An older version cannot know what the newer one meant, and a guess could act on the wrong machine.",
  },
  configFolder: {
    code: "ERR_CONFIG",
    text: "No folder is set to save files in. Open this node, give a folder that exists and deploy.",
    hint: "Name a folder that exists; it is never created.",
  },
  configChoice: {
    code: "ERR_CONFIG",
    text: "The setting “__field__” is “__value__”, which this node does not know. Choose one of: __choices__.",
    hint: "Open the node, choose again and deploy.",
  },
  configGeneration: {
    code: "ERR_CONFIG",
    text: "The __generation__ device has no __feature__ in its API. Use a newer device, or get it from the cloud.",
    hint: "The device config node's generation decides what can be asked of the device.",
  },
  inputMissing: {
    code: "ERR_INPUT",
    text: "__field__ is missing, and nothing was sent. Check where this node takes it from.",
    hint: "Put a debug node in front and look at the message.",
  },
  inputValue: {
    code: "ERR_INPUT",
    text: "__field__ cannot be “__value__”: __problem__ Nothing was sent.",
    hint: "Put a debug node in front and look at the message.",
  },
  inputExpression: {
    code: "ERR_INPUT",
    text: "__field__ could not be worked out: __problem__ Nothing was sent.",
    hint: "Correct the expression in this node's dialog.",
  },
  unreachableRefused: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__: nothing answers there. Check the address, the power and, on a newer device, Enable Local API.",
    hint: "The local API of a newer device is off until Enable Local API is set and saved.",
    passes: true,
  },
  unreachableCloud: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__: nothing answers there. Check the address, the network up to there and the firewall.",
    hint: "Where the internet is reached through a proxy, the cloud config node has to name it.",
    passes: true,
  },
  unreachableHost: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__: no such host is known. Check the address for a typing error, and the network.",
    hint: "An IP address needs no name server.",
    passes: true,
  },
  unreachableSilent: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__ within __seconds__ s. Check the address, the cable and the power.",
    hint: "A firewall that drops packets looks the same.",
    passes: true,
  },
  unreachableTls: {
    code: "ERR_UNREACHABLE",
    text: "No secure connection to __host__: __problem__. Check the address and the TLS settings.",
    hint: "A private certificate authority is added with a tls-config node.",
  },
  unreachableProxy: {
    code: "ERR_UNREACHABLE",
    text: "The proxy does not connect to __host__: __problem__. Check the proxy's address and login.",
    hint: "The cloud config node's proxy, or the environment's proxy variables, decide which proxy is used.",
    passes: true,
  },
  unreachableOther: {
    code: "ERR_UNREACHABLE",
    text: "No connection to __host__: __problem__. Check the network.",
    hint: "Nothing was sent.",
    passes: true,
  },
  timeout: {
    code: "ERR_TIMEOUT",
    text: "__host__ took longer than __seconds__ s. Look at the machine before you try again.",
    hint: "The config node's timeout sets how long an answer may take.",
    passes: true,
  },
  timeoutHarmless: {
    code: "ERR_TIMEOUT",
    text: "__host__ took longer than __seconds__ s. Try again; check the network if it happens often.",
    hint: "The config node's timeout sets how long an answer may take.",
    passes: true,
  },
  stalled: {
    code: "ERR_TIMEOUT",
    text: "__host__ sent nothing for __seconds__ s in the middle of a download. Try again; check the network if it happens often.",
    hint: "For downloads the config node's timeout is how long the line may stay silent.",
    passes: true,
  },
  connectionLost: {
    code: "ERR_CONNECTION_LOST",
    text: "The connection to __host__ broke before the whole answer was there. Check the network and whether the machine has restarted.",
    hint: "What was received until then was thrown away.",
    passes: true,
  },
  connectionLostUnsure: {
    code: "ERR_CONNECTION_LOST",
    text: "The connection to __host__ broke before the whole answer was there. Look at the machine before you try again: it may have acted.",
    hint: "Check the network, and whether the machine has restarted.",
    passes: true,
  },
  unauthorized: {
    code: "ERR_UNAUTHORIZED",
    text: "The cloud refused the token. Make a new one in the portal and put it into the cloud config node.",
    hint: "Tokens can expire or be withdrawn in the portal.",
  },
  wrongMode: {
    code: "ERR_WRONG_MODE",
    text: "The device is in an operating mode that does not allow this video request. Set it to a video mode in its portal.",
    hint: "Stop works in Video Only alone; outside the video modes the device refuses every video request.",
  },
  wrongModeStop: {
    code: "ERR_WRONG_MODE",
    text: "The device does not take a stop in its operating mode. Stop is for Video Only; in Video with Measurement, a measurement ends the recording.",
    hint: "Cancel ends a recording in both video modes, and throws it away.",
  },
  badDeviceReference: {
    code: "ERR_BAD_DEVICE_REFERENCE",
    text: "The cloud does not accept the device reference “__reference__”. Use the registration code that the portal shows for the device.",
    hint: "The device must be registered, able to be triggered and, for video, in a video mode.",
  },
  deviceTimeout: {
    code: "ERR_DEVICE_TIMEOUT",
    text: "The cloud got no answer from device “__reference__” in time. It may have acted all the same: look at the machine before you try again.",
    hint: "Check that the device is switched on and connected to the cloud.",
  },
  noVideo: {
    code: "ERR_NO_VIDEO",
    text: "The device has no saved video. Record and stop one in Video Only mode, or wait longer if it is still being encoded.",
    hint: "After a successful measurement the video is in the cloud, not on the device.",
    passes: true,
  },
  notFound: {
    code: "ERR_NOT_FOUND",
    text: "__host__ does not know what was asked for (__path__). Check the id.",
    hint: "Media can appear some time after the act that made them.",
  },
  notFoundMeasure: {
    code: "ERR_NOT_FOUND",
    text: "__host__ does not know the measure request. Switch Enable Local API on in the device's portal and check the generation in the device config node.",
    hint: "Enable Local API may be off, or the generation (newer or earlier) may be set wrong.",
  },
  http: {
    code: "ERR_HTTP",
    text: "__host__ answered with HTTP status __statusCode__. Look at the machine or its log before you try again.",
    hint: "The status says more to whoever looks after the device or the cloud.",
  },
  httpHarmless: {
    code: "ERR_HTTP",
    text: "__host__ answered with HTTP status __statusCode__. Check the address, or ask whoever looks after it.",
    hint: "The status says more to whoever looks after the device or the cloud.",
  },
  httpBusy: {
    code: "ERR_HTTP",
    text: "__host__ cannot answer right now (HTTP status __statusCode__). Look at the machine, then try again later.",
    hint: "The other side is overloaded, restarting or out of order.",
    passes: true,
  },
  httpBusyHarmless: {
    code: "ERR_HTTP",
    text: "__host__ cannot answer right now (HTTP status __statusCode__). Try again later.",
    hint: "The other side is overloaded, restarting or out of order.",
    passes: true,
  },
  redirect: {
    code: "ERR_HTTP",
    text: "__host__ sends the request on to another address (HTTP status __statusCode__), which is never followed. Enter the right address in the config node.",
    hint: "A sign-in page of the network or an http address that wants https are common causes.",
  },
  responseNotHttp: {
    code: "ERR_BAD_RESPONSE",
    text: "What answers at __host__ does not speak HTTP. Check address and port.",
    hint: "Another service may have that port.",
  },
  responseNotJson: {
    code: "ERR_BAD_RESPONSE",
    text: "The answer of __host__ is not readable: __problem__. Check that the address is that of the device or the cloud.",
    hint: "The API promises JSON in UTF-8.",
  },
  responseHtml: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ answered with a web page. Check the address and whether the network wants somebody to sign in.",
    hint: "A captive portal or a wrong address answers like this.",
  },
  responseShape: {
    code: "ERR_BAD_RESPONSE",
    text: "The answer of __host__ is not what its API promises: __problem__. Check address and generation.",
    hint: "A new software version of the device may have changed its answers.",
  },
  responseEmpty: {
    code: "ERR_BAD_RESPONSE",
    text: "The answer of __host__ is empty. Check address and generation.",
    hint: "The API promises a body here.",
  },
  responsePartial: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ sent only a part (__problem__), although the whole was asked for. Nothing was kept; try again.",
    hint: "A cache or proxy on the way can do this.",
  },
  responseEncoded: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ sent its answer as “__problem__”, although none was asked for. Switch off compression on the way.",
    hint: "A proxy that compresses answers can do this.",
  },
  responseUnfinished: {
    code: "ERR_BAD_RESPONSE",
    text: "What __host__ sent ends too early (__problem__). Nothing was kept; try again.",
    hint: "No length was announced, and the end of the format is missing.",
    passes: true,
  },
  jsonTooLarge: {
    code: "ERR_TOO_LARGE",
    text: "The answer of __host__ is too large: __problem__. Check that the address is that of the device or the cloud.",
    hint: "A measurement has fewer than a hundred values, and an item of a list fewer than 25.",
  },
  tooLarge: {
    code: "ERR_TOO_LARGE",
    text: "The answer of __host__ is larger than __limit__. Save it to a file, or check the address.",
    hint: "Only files have no size limit.",
  },
  measureFailed: {
    code: "ERR_MEASURE_FAILED",
    text: "The measurement failed: __problem__. Place the parcel again and measure once more.",
    hint: "The device's whole answer is on msg.payload.",
  },
  mediaIncomplete: {
    code: "ERR_MEDIA_INCOMPLETE",
    text: "Not all expected media are there after __seconds__ s; missing: __missing__. Try again later or wait longer.",
    hint: "What there is is on msg.payload.",
    passes: true,
  },
  messageTooDeep: {
    code: "ERR_INPUT",
    text: "The message is nested so deeply that Node-RED cannot copy it. Remove what is not needed from it before this node. Nothing was sent.",
    hint: "More than 500 objects or lists lie inside one another.",
  },
  messagesFull: {
    code: "ERR_QUEUE_FULL",
    text: "This node is at work on __most__ messages already. Send messages more slowly, or spread them over several nodes. Nothing was sent.",
    hint: "The message can be sent again when others have ended.",
    passes: true,
  },
  queueFull: {
    code: "ERR_QUEUE_FULL",
    text: "The queue for this device is full (__limit__ waiting). Nothing was sent; try again when it has caught up.",
    hint: "The config node's queue limit decides how many may wait.",
    passes: true,
  },
  expired: {
    code: "ERR_EXPIRED",
    text: "This command waited longer than __seconds__ s for its turn and was dropped, since another parcel may be on the table now.",
    hint: "The config node's longest wait decides how old a command may get.",
    passes: true,
  },
  cancelledReset: {
    code: "ERR_CANCELLED",
    text: "This message was dropped from the queue by a reset. Send it again if it is still wanted.",
    hint: "A message with msg.reset empties what waits in the node.",
    passes: true,
  },
  cancelledClose: {
    code: "ERR_CANCELLED",
    text: "The flow was stopped or deployed anew before this was finished. Send it again if it is still wanted.",
    hint: "A stop or a deploy ends what runs.",
    passes: true,
  },
  cancelledUnsure: {
    code: "ERR_CANCELLED",
    text: "The flow was stopped or deployed anew while this command was under way. Look at the machine before you send it again: it may have acted.",
    hint: "A stop or a deploy ends what runs, but not what the machine has begun.",
    passes: true,
  },
  cancelledKept: {
    code: "ERR_CANCELLED",
    text: "The flow was stopped or deployed anew before this was archived. The job is safe on the disk and goes on by itself; do not send it again.",
    hint: "When it is done, this node sends its message with msg.resumed.",
  },
  fileFull: {
    code: "ERR_FILE",
    text: "The disk is full: __path__ was not saved. Make room and try again.",
    hint: "__path__",
    passes: true,
  },
  fileDenied: {
    code: "ERR_FILE",
    text: "Node-RED may not write __path__. Give its user permission for the folder.",
    hint: "__path__",
  },
  fileExists: {
    code: "ERR_FILE",
    text: "__path__ exists already with other content. It was left as it is; choose another name or another rule for existing files.",
    hint: "__path__",
  },
  fileNoFolder: {
    code: "ERR_FILE",
    text: "The folder __path__ is not there. Mount or create it; it is never created, since it may be a share that is not mounted.",
    hint: "__path__",
    passes: true,
  },
  fileNotFolder: {
    code: "ERR_FILE",
    text: "__path__ is not a folder. Choose a folder to save files in.",
    hint: "__path__",
  },
  fileOutside: {
    code: "ERR_FILE",
    text: "__path__ leads out of the folder that files are saved in. Remove the link or choose another name.",
    hint: "__path__",
  },
  fileStalled: {
    code: "ERR_FILE",
    text: "Saving what __host__ sends has not moved for __seconds__ s. Check the disk or the share.",
    hint: "A network share that hangs can do this.",
    passes: true,
  },
  fileHung: {
    code: "ERR_FILE",
    text: "The disk of __path__ does not answer. Check the disk or the share and its network, then try again.",
    hint: "__path__",
    passes: true,
  },
  archiveLocked: {
    code: "ERR_FILE",
    text: "The archive __path__ is in use by another program (__holder__). Stop that one, or choose another folder.",
    hint: "One Node-RED at a time writes to an archive; verifying it is always possible.",
    passes: true,
  },
  archiveFull: {
    code: "ERR_QUEUE_FULL",
    text: "The archive __path__ has too many open jobs (limit: __limit__). Nothing was accepted; send it again when some of them are done.",
    hint: "The archive node's status and the log say what holds the open jobs up.",
    passes: true,
  },
  fileOther: {
    code: "ERR_FILE",
    text: "__path__ could not be saved: __problem__. Check the disk or the share.",
    hint: "__path__",
    passes: true,
  },
} as const satisfies Record<string, Sentence>;

export type SentenceKey = keyof typeof entries;

export const sentences: Readonly<Record<SentenceKey, Sentence>> = entries;
