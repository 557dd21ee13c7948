import type { Environment } from "./credentials.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";

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

const bucketName = /^[a-z\d][\w.-]{1,62}$/i;

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
  const prefix = path.replace(/^\/+|\/+$/g, "");
  const isOptions = [...options.keys()].every((key) => ["endpoint", "pathStyle", "region"].includes(key));
  const isPrefix = prefix === "" || prefix.split("/").every((part) => !/^\.{0,2}$/.test(part));
  if (!bucketName.test(bucket) || !isOptions || !isPrefix) {
    throw wrongAddress(text);
  }
  const region =
    options.get("region") ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1";
  const given =
    options.get("endpoint") ?? environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"];
  // A server of one's own seldom has a host name for each bucket, and a certificate of AWS does not cover dots.
  const isPathStyle = given === undefined ? bucket.includes(".") : options.get("pathStyle") !== "false";
  const endpoint = readEndpoint(given ?? `https://s3.${region}.amazonaws.com`, text);
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

function readEndpoint(text: string, address: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isUsable =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === "");
  if (!isUsable) {
    throw wrongAddress(address);
  }
  return url;
}

/** The address is named without its options: somebody may have put credentials there. */
function wrongAddress(text: string): DimensionerError {
  const facts = { surface: "store", operation: "bucket" } as const;
  return new DimensionerError("bucketAddress", facts, {
    value: text.replace(/\?.*$/s, "").replace(/\/\/.*@/s, "//"),
  });
}
