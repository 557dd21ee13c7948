import { folder, nodeName } from "../../src/properties/common-properties.ts";
import {
  defaultsOf,
  ownPackagesFolder,
  storeFolderTypes,
  type PropertyTable,
  type Saved,
} from "../../src/properties/property-table.ts";
import { poolSize, port, retainDays } from "../../src/properties/store-numbers.ts";

const inBucket = { files: ["s3"] } as const;
const inPostgres = { database: ["postgres"] } as const;
const reports = { legend: "group.reports", note: "note.reports" } as const;
const page = { legend: "group.page", note: "note.page" } as const;

/** The saved properties of `dimensioner-store`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** Where the packages are: in a folder, or in a bucket of an S3-compatible object store. */
  files: {
    kind: "choice",
    of: ["folder", "s3"],
    default: "folder",
    icon: "archive",
    tips: { key: "tip", of: ["s3"] },
  },
  /** The folder of the packages. Any but that of a new store has to exist; nodes that need only the database work without it. */
  folder: {
    ...folder,
    default: ownPackagesFolder,
    ifBlank: "",
    types: storeFolderTypes,
    required: "problem.folder",
    note: "note.folder",
    when: { files: ["folder"] },
  },
  bucket: {
    kind: "text",
    default: "",
    rule: "bucketName",
    required: "problem.bucket",
    icon: "cloud",
    when: inBucket,
  },
  /** What the keys of all objects begin with; blank: nothing. */
  prefix: {
    kind: "text",
    default: "",
    rule: "bucketPrefix",
    placeholder: { text: "dock-4" },
    icon: "folder-o",
    note: "note.prefix",
    when: inBucket,
  },
  /** The address of the object store; blank: that of the environment, or Amazon S3. */
  endpoint: {
    kind: "text",
    default: "",
    rule: "bucketEndpoint",
    placeholder: { text: "https://s3.example.com" },
    icon: "globe",
    note: "note.endpoint",
    when: inBucket,
  },
  /** Blank: that of the environment. */
  region: {
    kind: "text",
    default: "",
    placeholder: { text: "us-east-1" },
    icon: "map-marker",
    when: inBucket,
  },
  /** Both keys are blank: those of the environment, as the programs of Amazon find them. */
  accessKeyId: {
    kind: "credential",
    isShown: true,
    icon: "user",
    placeholder: "placeholder.fromEnvironment",
    when: inBucket,
  },
  secretAccessKey: {
    kind: "credential",
    icon: "key",
    placeholder: "placeholder.fromEnvironment",
    when: inBucket,
  },
  /** Whether the name of the bucket is in the path of requests, and not in the host name. With Amazon S3, it is chosen automatically. */
  pathStyle: { kind: "flag", default: true, isAdvanced: true, when: inBucket },
  retainDays: {
    ...retainDays,
    icon: "lock",
    note: "note.retainDays",
    isAdvanced: true,
    when: inBucket,
  },
  /** So many GB wait on the disk of Node-RED at most, while the packages are away. */
  spoolLimit: {
    kind: "number",
    of: "positive",
    default: 64,
    icon: "hdd-o",
    note: "note.spoolLimit",
    isAdvanced: true,
  },
  /** Where the database is: in a file in Node-RED's user directory, or on a server that several Node-REDs share. */
  database: {
    kind: "choice",
    of: ["embedded", "postgres"],
    default: "embedded",
    icon: "database",
    tips: { key: "tip", of: ["postgres"] },
  },
  /** A name, an IP address, or the folder of the server's socket. */
  host: {
    kind: "text",
    default: "",
    rule: "databaseHost",
    required: "problem.host",
    placeholder: { text: "db1.example.com" },
    icon: "globe",
    when: inPostgres,
  },
  port: { ...port, icon: "plug", when: inPostgres },
  databaseName: {
    kind: "text",
    default: "",
    required: "problem.databaseName",
    placeholder: { text: "packages" },
    icon: "tag",
    when: inPostgres,
  },
  /** The user and the password are blank: from the environment, as PostgreSQL's own programs take them. */
  user: {
    kind: "credential",
    isShown: true,
    icon: "user",
    placeholder: "placeholder.fromEnvironment",
    when: inPostgres,
  },
  password: {
    kind: "credential",
    icon: "key",
    placeholder: "placeholder.fromEnvironment",
    when: inPostgres,
  },
  /** Blank: the connection is not encrypted. */
  tls: { kind: "config", of: "tls-config", icon: "lock", note: "note.tls", when: inPostgres },
  poolSize: { ...poolSize, icon: "random", isAdvanced: true, note: "note.poolSize", when: inPostgres },
  /**
   * A PEM file with the root certificates that the signers of time stamps are checked against, for the evidence page and
   * for evidence nodes that name none; blank: they are not checked.
   */
  roots: { kind: "text", default: "", icon: "certificate", note: "note.roots" },
  /** What is above the reports of exports: the name of the shop, its address on one line, and the path of a PNG or JPEG file. */
  shop: { kind: "text", default: "", icon: "building-o", group: reports },
  shopAddress: { kind: "text", default: "", icon: "map-marker", group: reports },
  logo: { kind: "text", default: "", icon: "picture-o", note: "note.logo", group: reports },
  /** Where the evidence page is served, below the root of the flows; blank: nowhere. */
  path: { kind: "text", default: "", rule: "pagePath", icon: "link", group: page },
  /** The address at which people open the page, for links to packages; blank: links are paths on Node-RED's server. */
  url: {
    kind: "text",
    default: "",
    rule: "pageUrl",
    placeholder: { text: "https://dock.example.com/evidence/" },
    icon: "external-link",
    note: "note.url",
    group: page,
    when: { path: "given" },
  },
  /** How people log in. */
  login: {
    kind: "choice",
    of: ["logins", "nodeRed", "proxy"],
    default: "logins",
    icon: "lock",
    group: page,
    when: { path: "given" },
    tips: { key: "tip", of: ["nodeRed", "proxy"] },
  },
  /** Names with their rights and the hashes of their passwords, as JSON. */
  logins: {
    kind: "credential",
    isList: true,
    required: "problem.logins",
    unfinished: "problem.loginUnfinished",
    icon: "users",
    group: page,
    when: { path: "given", login: ["logins"] },
  },
  /** The header in which the proxy says who has logged in. */
  header: {
    kind: "text",
    default: "",
    rule: "headerName",
    required: "problem.header",
    placeholder: { text: "x-forwarded-user" },
    icon: "tag",
    group: page,
    when: { path: "given", login: ["proxy"] },
  },
  /** From where the header is believed. */
  proxyAddresses: {
    kind: "text",
    default: "127.0.0.1, ::1",
    rule: "ipAddresses",
    icon: "server",
    note: "note.proxyAddresses",
    group: page,
    when: { path: "given", login: ["proxy"] },
  },
  /** The names of those who may also put packages on hold. */
  managers: {
    kind: "text",
    default: "",
    icon: "user-o",
    note: "note.managers",
    group: page,
    when: { path: "given", login: ["nodeRed", "proxy"] },
  },
} as const satisfies PropertyTable;

export type StoreProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
