import { filesName, type FilesLocation } from "../../store/files-location.ts";
import { readStoreFile } from "./store-file.ts";

/** What a command line says of the packages that it is for. */
export interface NamedPlace {
  /** A folder or the address of a bucket, or where a store has its packages. */
  readonly place: string | FilesLocation;
  /** The same as a text. */
  readonly address: string;
  /** For people. */
  readonly name: string;
  /** That of the store; undefined if none was named. */
  readonly database: string | undefined;
}

/** The text about `--store` in the help of a command. */
export const storeHelp = `  --store <file>      instead of a folder: a JSON file with the packages and the database of a store, as its dialog
                      exports it; --database replaces its database. Credentials and passwords come from the environment`;

/** Reads the one place that a command line names. Throws if it names none, or several. */
export async function namedPlace(
  positionals: readonly string[],
  store: string | undefined,
): Promise<NamedPlace> {
  const [folder, more] = positionals;
  if (folder !== undefined && more === undefined && store === undefined) {
    return { place: folder, address: folder, name: folder, database: undefined };
  }
  if (folder !== undefined || store === undefined) {
    throw new Error("specify exactly one folder, or one store with --store. See --help.");
  }
  const { files, address, database } = await readStoreFile(store);
  return { place: files, address, name: filesName(files), database };
}
