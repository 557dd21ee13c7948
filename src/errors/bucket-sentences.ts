import type { Sentence } from "./sentence.ts";

/** Errors of a bucket of an S3-compatible object store. */
export const buckets = {
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
  bucketNotTls: {
    code: "ERR_STORE",
    text: "The object store __host__ does not use HTTPS on this port. Write the endpoint with http://, or check the port.",
    hint: "Without HTTPS, others on the network can read and change what is stored.",
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
  bucketNoLock: {
    code: "ERR_STORE",
    text: "The bucket __name__ cannot protect objects from being deleted: __problem__. Nothing was stored. Use a bucket with Object Lock, or store without a retention time.",
    hint: "Object Lock is enabled when a bucket is created, or later together with versioning.",
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
} as const satisfies Record<string, Sentence>;
