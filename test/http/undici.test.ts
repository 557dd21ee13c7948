import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "..", "..");

describe("undici", () => {
  it("is loaded with the first connection, and not with the package", () => {
    const client = JSON.stringify(pathToFileURL(join(root, "src", "device", "client.ts")).href);
    const script = `
      import { createRequire } from "node:module";
      const { cache } = createRequire(${client});
      const isThere = () => Object.keys(cache).some((path) => /[\\\\/]undici[\\\\/]/.test(path));
      const { DeviceClient } = await import(${client});
      const device = new DeviceClient({ address: "127.0.0.1:1", timeoutMs: 100 });
      const before = isThere();
      await device.ping().catch(() => undefined);
      await device.close();
      console.log(before, isThere());
    `;
    const args = [...process.execArgv, "--input-type=module", "--eval", script];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
    assert.equal(stdout.trim(), "false true", stderr);
  });
});
