import type { NodeAPI, NodeDef } from "node-red";
import { readCurrent } from "../../src/runtime/action/saved-properties.ts";
import { serveLoginHashes } from "../../src/runtime/admin/login-routes.ts";
import { serveStoreFile, serveStoreTest } from "../../src/runtime/admin/store-routes.ts";
import { openOrExplain } from "../../src/runtime/config/config-node.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { PackageLinks } from "../../src/runtime/store/package-links.ts";
import { StorePages } from "../../src/runtime/evidence-page/store-pages.ts";
import { readStoreFiles } from "../../src/runtime/store/store-files.ts";
import { readLocation, type StoreNode } from "../../src/runtime/store/store-choice.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { Store } from "../../src/vault/store.ts";
import { defaults, properties as table, type StoreProperties } from "./store.shared.ts";

/**
 * `dimensioner-store`: names the folder of packages, and the database in which nodes keep what must survive a restart; serves
 * the evidence page.
 */
export default function (RED: NodeAPI): void {
  // A database file can be open only once, so the nodes of one store share it, also while a deploy replaces them.
  const databases = new StoreDatabases();
  const pages = new StorePages(RED);

  function StoreConfigNode(this: StoreNode, config: NodeDef & Partial<StoreProperties>): void {
    RED.nodes.createNode(this, config);
    this.links = new PackageLinks();
    this.access = openOrExplain(() => {
      const properties = readCurrent(defaults, config);
      const read = () => new SettingsReader("store").read(table, properties);
      const reader = new SettingsReader("store");
      const settings = reader.read(table, properties);
      const { user = "", password = "", accessKeyId = "", secretAccessKey = "" } = this.credentials ?? {};
      const keys = { accessKeyId, secretAccessKey };
      const store = new Store(
        readLocation(RED, this.id, { ...settings, user, password }, reader),
        readStoreFiles(RED, this, { settings, folder: properties, keys }, reader),
        databases,
        settings.roots,
      );
      pages.serve(this, store, { links: this.links, read });
      return { store };
    });
  }

  RED.nodes.registerType("dimensioner-store", StoreConfigNode, {
    credentials: {
      logins: { type: "text" },
      user: { type: "text" },
      password: { type: "password" },
      accessKeyId: { type: "text" },
      secretAccessKey: { type: "password" },
    },
  });
  serveStoreTest(RED, databases);
  serveStoreFile(RED);
  serveLoginHashes(RED);
}
