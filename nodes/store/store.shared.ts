import { folder, nodeName } from "../../src/properties/common-properties.ts";
import {
  defaultsOf,
  storeFolderTypes,
  type PropertyTable,
  type Saved,
} from "../../src/properties/property-table.ts";

const page = { legend: "group.page", note: "note.page" } as const;

/** The saved properties of `dimensioner-store`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** The folder of the packages. It has to exist; nodes that need only the database work without it. */
  folder: { ...folder, types: storeFolderTypes, required: "problem.folder", note: "note.folder" },
  /** Where the database is: in a file in Node-RED's user directory, or on a server that several Node-REDs share. */
  database: {
    kind: "choice",
    of: ["embedded", "postgres"],
    default: "embedded",
    icon: "database",
    tips: { key: "tip", of: ["postgres"] },
  },
  databaseUrl: {
    kind: "text",
    default: "",
    rule: "databaseUrl",
    required: "problem.databaseUrl",
    placeholder: { text: "postgres://dimensioner@db.example.com/packages?sslmode=verify-full" },
    icon: "globe",
    note: "note.databaseUrl",
    when: { database: ["postgres"] },
  },
  /** Blank: from the environment, as PostgreSQL's own programs take it. */
  databasePassword: {
    kind: "credential",
    icon: "key",
    placeholder: "placeholder.databasePassword",
    when: { database: ["postgres"] },
  },
  /**
   * A PEM file with the root certificates that the signers of time stamps are checked against, for the evidence page and
   * for evidence nodes that name none; blank: they are not checked.
   */
  roots: { kind: "text", default: "", icon: "certificate", note: "note.roots" },
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
