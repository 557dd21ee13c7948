import type { NodeAPI, NodeDef } from "node-red";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { readCurrent } from "../../src/runtime/action/values.ts";
import { serveLoginHashes, serveStoreFile, serveStoreTest } from "../../src/runtime/admin/store-routes.ts";
import { openOrExplain } from "../../src/runtime/config/config-choice.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { StorePages } from "../../src/runtime/evidence-page/store-pages.ts";
import {
  PackageLinks,
  type StoreNode,
  readLocation,
  readStoreVault,
  tellCheck,
} from "../../src/runtime/store/store-choice.ts";
import { Store } from "../../src/vault/store.ts";
import { type StoreProperties, defaults, properties as table } from "./store.shared.ts";

/**
 * `dimensioner-store`: names the folder of packages, and the database in which nodes keep what must survive a restart; serves
 * the evidence page.
 */
export default function (RED: NodeAPI): void {
  // A database file can be open only once, so the nodes of one store share it, also while a deploy replaces them.
  const databases = new StoreDatabases({ onCheck: (file, check) => void tellCheck(RED, file, check) });
  const pages = new StorePages(RED);

  function StoreConfigNode(this: StoreNode, config: NodeDef & Partial<StoreProperties>): void {
    RED.nodes.createNode(this, config);
    this.links = new PackageLinks();
    this.access = openOrExplain(() => {
      const properties = readCurrent(defaults, config);
      const read = () => new SettingsReader("store").read(table, properties);
      const reader = new SettingsReader("store");
      const settings = reader.read(table, properties);
      reader.refuseUnset(this.credentials ?? {});
      const { user = "", password = "", accessKeyId = "", secretAccessKey = "" } = this.credentials ?? {};
      const keys = { accessKeyId, secretAccessKey };
      const store = new Store(
        readLocation(RED, this.id, { ...settings, user, password }, reader),
        readStoreVault(RED, this, { settings, folder: properties, keys }, reader),
        databases,
        {
          timestampRoots: settings.roots,
          spoolBytes: settings.spoolLimit * 1e9,
          heading: { name: settings.shop, address: settings.shopAddress, logo: settings.logo },
        },
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
