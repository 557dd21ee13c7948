import type { NodeAPI } from "node-red";
import * as v from "valibot";
import { readRoots } from "../../archive/maintenance/timestamp-roots.ts";
import { fileError } from "../../media/disk.ts";
import { SettingsReader } from "../config/settings.ts";
import type { StoreDatabases } from "../../store/store-databases.ts";
import { testDatabase } from "./store-database-test.ts";
import { testFolder } from "./store-folder-test.ts";
import { readPackagesFolder } from "../store/packages-folder.ts";
import { databaseOf } from "../store/store-choice.ts";
import { fieldText, neighbour, readBody, readEnvironment } from "./admin-route.ts";
import { line, lineOfError, orLate, serveConnectionTest, type TestLine } from "./connection-test.ts";

const requestSchema = v.object({
  id: fieldText,
  z: fieldText,
  folder: fieldText,
  folderType: fieldText,
  roots: fieldText,
});

type StoreTestRequest = v.InferOutput<typeof requestSchema>;

/** A share that takes longer to answer cannot be used for packages either. */
const longestTestMs = 5_000;

/** The route of Test connection: it tests the folder of packages, the database, and the file of root certificates. */
export function serveStoreTest(RED: NodeAPI, databases: StoreDatabases): void {
  serveConnectionTest(RED, "dimensioner-store", async (request, left) => {
    const given = readBody(requestSchema, request);
    const signal = AbortSignal.any([left, AbortSignal.timeout(longestTestMs)]);
    const { id } = given;
    const tests = [
      testFolderOf(RED, given, signal),
      testDatabase({
        databases,
        location: databaseOf(RED, id),
        isDeployed: RED.nodes.getNode(id) !== null,
        signal,
        withinMs: longestTestMs,
      }),
      testRoots(RED, given, signal),
    ];
    return (await Promise.all(tests)).flat();
  });
}

async function testRoots(
  RED: NodeAPI,
  given: StoreTestRequest,
  signal: AbortSignal,
): Promise<readonly TestLine[]> {
  try {
    const path = readEnvironment(RED, given, new SettingsReader("store"))("roots", given.roots);
    const roots = await orLate(readRoots(path), signal);
    if (roots === "late") {
      throw fileError("fileHung", path, { operation: "test", surface: "disk", host: "store" });
    }
    return roots.length === 0 ? [] : [line("good", "roots", { count: roots.length })];
  } catch (error) {
    return [lineOfError(error)];
  }
}

async function testFolderOf(
  RED: NodeAPI,
  given: StoreTestRequest,
  signal: AbortSignal,
): Promise<readonly TestLine[]> {
  const { folderType } = given;
  try {
    const resolved = readEnvironment(RED, given, new SettingsReader("store"));
    const folder = folderType === "str" ? resolved("folder", given.folder) : given.folder;
    const read = readPackagesFolder(RED, neighbour(RED, given), { folder, folderType });
    return "path" in read ? await testFolder(read.path, signal) : [lineOfError(read.problem)];
  } catch (error) {
    return [lineOfError(error)];
  }
}
