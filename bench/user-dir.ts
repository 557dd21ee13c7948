import { existsSync } from "node:fs";
import { mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildDriver } from "./driver/build.ts";
import { packageName, repository } from "./runtimes.ts";

export type FlowNode = Readonly<Record<string, unknown>>;

/** A new user folder with the driver node and, unless told otherwise, this package as it was built. */
export async function makeUserDir({ withPackage = true } = {}): Promise<string> {
  const userDir = await mkdtemp(join(tmpdir(), "bench-node-red-"));
  await addDriver(userDir);
  if (withPackage) {
    await link(repository, join(userDir, "node_modules", packageName));
  }
  return userDir;
}

export async function addDriver(userDir: string): Promise<void> {
  const modules = join(userDir, "node_modules");
  await buildDriver(modules);
  // The same copy of undici for all contenders.
  if (!existsSync(join(modules, "undici"))) {
    await link(join(repository, "node_modules", "undici"), join(modules, "undici"));
  }
}

async function link(target: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path, "dir");
}

/** Writes settings and flows, so that they run as soon as Node-RED is up. */
export async function writeUserDir(
  userDir: string,
  {
    flows,
    credentials,
    port,
  }: {
    readonly flows: readonly FlowNode[];
    readonly credentials: Readonly<Record<string, object>>;
    readonly port: number;
  },
): Promise<void> {
  const settings = {
    uiHost: "127.0.0.1",
    uiPort: port,
    flowFile: "flows.json",
    // Without a secret, Node-RED reads the credentials as they are here.
    credentialSecret: false,
    lang: "en-US",
    telemetry: { enabled: false, updateNotification: false },
    externalModules: { autoInstall: false, palette: { allowInstall: false, allowUpload: false } },
    editorTheme: { tours: false, projects: { enabled: false }, palette: { editable: false } },
    logging: { console: { level: "info", metrics: false, audit: false } },
  };
  await writeFile(join(userDir, "settings.js"), `module.exports = ${JSON.stringify(settings)};\n`);
  await writeFile(join(userDir, "flows.json"), JSON.stringify(flows));
  await writeFile(join(userDir, "flows_cred.json"), JSON.stringify(credentials));
}
