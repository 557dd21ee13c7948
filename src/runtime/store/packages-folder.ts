import type { Node, NodeAPI } from "node-red";
import { field, phrase } from "../../errors/interpolation.ts";
import { storeFolderTypes } from "../../properties/property-table.ts";
import type { FilesLocation } from "../../vault/files-location.ts";
import type { Store, StoreFiles } from "../../vault/store.ts";
import { SettingsReader } from "../config/settings.ts";
import { errorBeforeSending, show, type Operation } from "../failure.ts";

const ofSettings: Operation = { operation: "settings", surface: "config", acts: false };

/** The folder as a flow or a dialog has it; flows are also written by hand. */
export interface StoreFolder {
  readonly folder: unknown;
  readonly folderType: unknown;
}

/** Reads the folder from a store's settings. A store without one can still be used for its database. */
export function readPackagesFolder(
  RED: NodeAPI,
  node: Node | null,
  { folder, folderType }: StoreFolder,
): StoreFiles {
  const text = textOf(folder);
  if (!storeFolderTypes.some((type) => type === folderType)) {
    const values = { field: field("folder"), value: show(folderType), choices: storeFolderTypes };
    return { problem: errorBeforeSending(ofSettings, "configChoice", values) };
  }
  if (text.trim() === "") {
    return { problem: errorBeforeSending(ofSettings, "configFolder") };
  }
  return folderType === "str" ? { kind: "folder", path: text } : readVariables(RED, node, text);
}

/** Returns where the packages of a store are; throws ERR_CONFIG if its settings do not say it. It need not exist. */
export function filesOf({ files }: Store, operation: Operation): FilesLocation {
  if ("problem" in files) {
    throw errorBeforeSending(operation, files.problem.sentence, files.problem.values);
  }
  return files;
}

/**
 * Replaces variables in the text of a typed input of type env: a name, or a text with `${NAME}` in it. A variable that
 * is not set is an error, because the rest of the text would name another folder.
 */
function readVariables(RED: NodeAPI, node: Node | null, text: string): StoreFiles {
  const unset: string[] = [];
  const read = (name: string): string => {
    const found: unknown = node === null ? process.env[name] : RED.util.getSetting(node, name);
    const value = textOf(found);
    if (value.trim() === "") {
      unset.push(name);
    }
    return value;
  };
  const marks = /\$\{([^}]+)\}/g;
  const path = text.includes("${")
    ? text.replace(marks, (_mark, name: string) => read(name))
    : read(text.trim());
  const [name] = unset;
  return name === undefined
    ? { kind: "folder", path }
    : { problem: new SettingsReader("store").invalid("folder", phrase("environmentUnset", { name })) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
