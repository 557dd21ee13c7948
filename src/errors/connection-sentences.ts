import type { Sentence } from "./sentence.ts";

const checkCloud = "Check the address, the network and the firewall.";
const proxy = {
  hint: "If the internet is only reachable through a proxy, set the proxyUrl option.",
  inNode: {
    hint: "If the internet is only reachable through a proxy, select it where the address is set.",
  },
} as const;

/** Connections that cannot be made, take too long or break. */
export const connections = {
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
    text: "The download from __host__ stopped: no data for __seconds__ s. Try again; if this happens often, check the network.",
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
} as const satisfies Record<string, Sentence>;
