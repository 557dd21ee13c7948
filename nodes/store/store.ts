import type { NodeAPI, NodeDef } from "node-red";
import { readCurrent } from "../../src/runtime/action/saved-properties.ts";
import { serveStoreTest } from "../../src/runtime/admin/store-routes.ts";
import { openOrExplain } from "../../src/runtime/config/config-node.ts";
import { readPackagesFolder } from "../../src/runtime/store/packages-folder.ts";
import { databaseFile, type StoreNode } from "../../src/runtime/store/store-choice.ts";
import { StoreDatabases } from "../../src/store/store-databases.ts";
import { Store } from "../../src/store/store.ts";
import { defaults, type StoreProperties } from "./store.shared.ts";

/** `dimensioner-store`: names the folder of packages, and the database in which nodes keep what must survive a restart. */
export default function (RED: NodeAPI): void {
  // A database file can be open only once, so the nodes of one store share it, also while a deploy replaces them.
  const databases = new StoreDatabases();

  function StoreConfigNode(this: StoreNode, config: NodeDef & Partial<StoreProperties>): void {
    RED.nodes.createNode(this, config);
    this.access = openOrExplain(() => {
      const folder = readPackagesFolder(RED, this, readCurrent(defaults, config));
      return { store: new Store(databaseFile(RED, this.id), folder, databases) };
    });
  }

  RED.nodes.registerType("dimensioner-store", StoreConfigNode);
  serveStoreTest(RED, databases);
}
