import type { Sentence } from "./sentence.ts";

/** Responses that are not what the API promises. */
export const responses = {
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
  },
  responseEncoded: {
    code: "ERR_BAD_RESPONSE",
    text: "__host__ sent its response compressed (“__problem__”), which was not requested. Turn off compression in the proxy on the way.",
    hint: "Some proxies compress responses.",
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
} as const satisfies Record<string, Sentence>;
