import { readServiceUrl, type Unusable } from "./addresses.ts";
import { problem } from "./problem.ts";

const bucketName = /^[a-z\d][\w.-]{1,62}$/i;

/** Reads the name of a bucket, or says what is wrong. */
export function readBucketName(given: string): { readonly bucket: string } | Unusable {
  const bucket = given.trim();
  if (bucket === "") {
    return { problem: problem("empty") };
  }
  return bucketName.test(bucket) ? { bucket } : { problem: problem("bucketName") };
}

/** Reads what the keys in a bucket begin with, or says what is wrong. Without slashes at either end; blank: nothing. */
export function readPrefix(given: string): { readonly prefix: string } | Unusable {
  const prefix = given.trim().replace(/^\/+|\/+$/g, "");
  const isValid = prefix === "" || prefix.split("/").every((part) => !/^\.{0,2}$|[\p{Cc}\\]/u.test(part));
  return isValid ? { prefix } : { problem: problem("bucketPrefix") };
}

/** Reads the address of an object store, or says what is wrong. */
export function readBucketEndpoint(given: string): { readonly url: URL } | Unusable {
  const url = readServiceUrl(given, "addressScheme");
  return "problem" in url ? url : { url };
}
