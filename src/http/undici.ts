import { createRequire } from "node:module";
import type * as Undici from "undici";

const require = createRequire(import.meta.url);

/**
 * undici, with the first connection that is opened: loading it takes as long as half of this package, and Node-RED
 * loads the package at every start, used or not.
 */
export function loadUndici(): typeof Undici {
  const loaded: unknown = require("undici");
  if (!isUndici(loaded)) {
    throw new TypeError("The installed undici is none that this package knows. Install this package anew.");
  }
  return loaded;
}

function isUndici(loaded: unknown): loaded is typeof Undici {
  return typeof loaded === "object" && loaded !== null && "Pool" in loaded && "ProxyAgent" in loaded;
}
