import { isIP } from "node:net";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { readBucketEndpoint, readBucketName, readPrefix } from "../../rules/buckets.ts";
import type { Problem } from "../../rules/problem.ts";
import type { Environment } from "./credentials.ts";

/** Where a bucket of an S3-compatible object store is. It contains no credentials. */
export interface BucketAddress {
  readonly bucket: string;
  /** What the keys begin with, without slashes at either end; blank: nothing. */
  readonly prefix: string;
  /** The scheme, host and port that requests go to. */
  readonly origin: string;
  /** Before the key in the path of a request: the path of the endpoint, and the bucket unless the host names it. */
  readonly basePath: string;
  readonly region: string;
  /** As messages name it: without the options. */
  readonly name: string;
}

/** Where a bucket is, as people say it. */
export interface NamedBucket {
  readonly bucket: string;
  readonly prefix: string;
  /** Blank: that of the environment, or of Amazon. */
  readonly endpoint: string;
  /** Blank: that of the environment. */
  readonly region: string;
  /** Whether the name of the bucket is in the path, and not in the host name. With Amazon S3, it is chosen automatically. */
  readonly isPathStyle: boolean;
}

/** Whether a text names a bucket, and not a folder. */
export function isS3Url(text: string): boolean {
  return /^s3:/i.test(text);
}

/**
 * Reads `s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-central-1&pathStyle=true`. What is missing comes
 * from the environment, as for the programs of AWS. Throws ERR_CONFIG if that is no address of a bucket.
 */
export function readS3Url(text: string, environment: Environment = process.env): BucketAddress {
  const [, bucket = "", path = "", query = ""] = /^s3:\/\/([^/?]+)\/?([^?]*)(?:\?(.*))?$/is.exec(text) ?? [];
  const options = new URLSearchParams(query);
  const isOptions = [...options.keys()].every((key) => ["endpoint", "pathStyle", "region"].includes(key));
  const place = {
    bucket,
    prefix: path,
    endpoint: options.get("endpoint") ?? "",
    region: options.get("region") ?? "",
    isPathStyle: options.get("pathStyle") !== "false",
  };
  const address = isOptions ? readBucketAddress(place, environment) : undefined;
  if (address === undefined || "problem" in address) {
    throw wrongAddress(text);
  }
  return address;
}

/** Reads where a bucket is, or says which part is not valid and why. */
export function readBucketAddress(
  place: NamedBucket,
  environment: Environment = process.env,
): BucketAddress | { readonly field: "bucket" | "endpoint" | "prefix"; readonly problem: Problem } {
  const [name, prefixed] = [readBucketName(place.bucket), readPrefix(place.prefix)];
  if ("problem" in name) {
    return { field: "bucket", problem: name.problem };
  }
  if ("problem" in prefixed) {
    return { field: "prefix", problem: prefixed.problem };
  }
  const { bucket } = name;
  const { prefix } = prefixed;
  const region =
    place.region.trim() || environment["AWS_REGION"] || environment["AWS_DEFAULT_REGION"] || "us-east-1";
  const given =
    place.endpoint.trim() || environment["AWS_ENDPOINT_URL_S3"] || environment["AWS_ENDPOINT_URL"] || "";
  const read = readBucketEndpoint(given === "" ? `https://s3.${region}.amazonaws.com` : given);
  if ("problem" in read) {
    return { field: "endpoint", problem: read.problem };
  }
  const endpoint = read.url;
  // A server of one's own seldom has a host name for each bucket, and a certificate of AWS does not cover dots.
  // An address of numbers has no host names below it: a request would go to another bucket, the first part of the prefix.
  const isPathStyle = given === "" ? bucket.includes(".") : place.isPathStyle || isNumbers(endpoint.hostname);
  if (!isPathStyle) {
    endpoint.hostname = `${bucket}.${endpoint.hostname}`;
  }
  return {
    bucket,
    prefix,
    origin: endpoint.origin,
    basePath: endpoint.pathname.replace(/\/+$/, "") + (isPathStyle ? `/${bucket}` : ""),
    region,
    name: prefix === "" ? `s3://${bucket}` : `s3://${bucket}/${prefix}`,
  };
}

/** Whether a host is an IP address, as URL writes it. */
function isNumbers(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}

/** The address is named without its options: somebody may have put credentials there. */
function wrongAddress(text: string): DimensionerError {
  const facts = { surface: "store", operation: "bucket" } as const;
  return new DimensionerError("bucketAddress", facts, {
    value: text.replace(/\?.*$/s, "").replace(/\/\/.*@/s, "//"),
  });
}
