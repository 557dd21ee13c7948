import { shared } from "./texts.ts";

/**
 * Says what is wrong with a value, in a sentence for people; null when it can be used. `now` tells how the node's other
 * properties are set.
 */
export type Check = (value: string, now: (property: string) => string) => string | null;

const environment = /^\$(?:\{[^}]+\}|\([^)]+\))$/;

/** Node-RED replaces `${NAME}` when it deploys: what it will be is not known here. */
export function isEnvironment(value: string): boolean {
  return environment.test(value);
}

export function required(problem: string): Check {
  return (value) => (value.trim() === "" ? shared(`problem.${problem}`) : null);
}

/** Seconds or a count: 0 or more, blank for the default. */
export const amount: Check = (value) =>
  value.trim() === "" || isSeconds(value) ? null : shared("problem.amount");

export const count: Check = (value) =>
  value.trim() === "" || /^\s*\d{1,9}\s*$/.test(value) ? null : shared("problem.count");

/** A deadline of 0 would pass before anything is sent. */
export const deadline: Check = (value) =>
  value.trim() === "" || (isSeconds(value) && Number(value) > 0) ? null : shared("problem.deadline");

export function oneOf(choices: readonly string[]): Check {
  return (value) => (choices.includes(value) ? null : shared("problem.choice"));
}

/** Eight letters or digits: "8-digit" in the documents, letters in practice. */
export const registrationCode: Check = (value) =>
  /^[a-z0-9]{8}$/i.test(value) ? null : shared("problem.registrationCode");

/** A name below the folder: sub-folders are possible, a way out of it is not. */
export const fileName: Check = (value) => {
  if (/^\s*(?:[/\\]|[a-z]:)/i.test(value)) {
    return shared("problem.filenameAbsolute");
  }
  return value.split(/[/\\]/).some((part) => part.trim() === "..") ? shared("problem.filenameUp") : null;
};

/** host, host:port, [v6]:port, or an http(s) origin. */
export const deviceAddress: Check = (value) => {
  const given = value.trim();
  if (given === "") {
    return shared("problem.addressMissing");
  }
  if (hasStrangeCharacters(given)) {
    return shared("problem.addressSpaces");
  }
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(given) && !/^https?:/i.test(given)) {
    return shared("problem.addressScheme");
  }
  const host = given.replace(/^https?:\/\//i, "").replace(/\/$/, "");
  if (/[/?#@]/.test(host)) {
    return shared("problem.addressPath");
  }
  if (host.split(":").length > 2 && !host.startsWith("[")) {
    return shared("problem.addressBrackets");
  }
  const url = readUrl(`http://${host}`);
  if (url === null || url.port === "0") {
    return shared("problem.addressUnreadable");
  }
  // The URL standard completes "192.168.1" to 192.168.0.1: in a machine's address that is a slip.
  const isNumbers = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(url.hostname);
  return isNumbers && host.replace(/:\d*$/, "") !== url.hostname
    ? shared("problem.addressNumbers", { address: url.hostname })
    : null;
};

/** An https address; http on this machine, or where it was allowed. A path stands before that of every call. */
export const cloudAddress: Check = (value, now) => {
  const given = value.trim();
  if (given === "") {
    return shared("problem.baseUrlMissing");
  }
  if (hasStrangeCharacters(given)) {
    return shared("problem.addressSpaces");
  }
  const url = readUrl(given);
  if (!/^https?:\/\//i.test(given) || url === null) {
    return shared("problem.baseUrlScheme");
  }
  if (url.username !== "" || url.password !== "" || /[?#]/.test(given)) {
    return shared("problem.baseUrlExtra");
  }
  return isOpenHttp(given) && now("allowHttp") !== "true" ? shared("problem.baseUrlHttp") : null;
};

/** Whether this address sends the token over a network without encryption. */
export function isOpenHttp(value: string): boolean {
  const url = readUrl(value.trim());
  return url?.protocol === "http:" && !/^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(url.hostname);
}

/** A timer takes no more than about 24 days. */
function isSeconds(value: string): boolean {
  return Number(value) >= 0 && Number(value) <= 2_000_000;
}

function hasStrangeCharacters(address: string): boolean {
  return /[\s\p{Cc}\\]/u.test(address);
}

function readUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
