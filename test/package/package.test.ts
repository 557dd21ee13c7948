import assert from "node:assert/strict";
import { readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { exampleNames, readExample } from "../support/examples.ts";
import { startExamples, type ExamplesRun } from "../examples/several-examples.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { filesIn } from "../examples/archive.ts";
import { compile, makeProject, resolutions, runnablePrograms } from "./consumer.ts";
import { bytesIn, notAllowed } from "./content.ts";
import { installedPackage } from "./installed.ts";
import { lockedVersions } from "./locked.ts";
import { packageName, repository, type Packed } from "./packed.ts";

const largestPackedBytes = 2_150_000;
/** With all that npm installs for it. */
const largestInstalledBytes = 12_900_000;

describe(`the packed package on Node ${process.versions.node} and Node-RED ${nodeRedMajor}`, () => {
  let packed: Packed;

  before(async () => {
    packed = await installedPackage();
  });

  it("holds what it has to, and nothing else", async () => {
    const files = packed.tarball.files.map(({ path }) => path);
    assert.deepEqual(notAllowed(files), [], "not allowed in the tarball");
    const examples = (await exampleNames()).map((name) => `examples/${name}`);
    const needed = ["LICENSE", "README.md", "CHANGELOG.md", "dist/src/index.d.ts", ...examples];
    for (const path of needed) {
      assert.ok(files.includes(path), `${path} is missing`);
    }
    const inSources = await readdir(join(repository, "nodes"));
    for (const name of inSources) {
      for (const ending of [".js", ".html"]) {
        assert.ok(files.includes(`dist/nodes/${name}/${name}${ending}`), `${name}${ending} is missing`);
      }
    }
  });

  it("is smaller than 2.15 MB, and installed with its dependencies than 12.9 MB", async () => {
    assert.ok(packed.tarball.size < largestPackedBytes, `${packed.tarball.size} bytes packed`);
    const installedBytes = await bytesIn(join(packed.userDir, "node_modules"));
    assert.ok(installedBytes < largestInstalledBytes, `${installedBytes} bytes installed`);
  });

  it("has the licences of what it contains of others", async () => {
    const path = join(packed.installed, "dist/THIRD-PARTY.txt");
    const notices = await readFile(path, "utf8").catch(() => "");
    for (const needed of [
      /^preact \d.*\n\n.*\n\nCopyright \(c\) 2015-present Jason Miller$/m,
      /^valibot \d.*\n\n.*\n\nCopyright \(c\) Fabian Hiller$/m,
      /^Copyright \(c\) 2017 Jeff Keen$/m,
      /^Copyright \(c\) GS1 AISBL\n\n +Apache License$/m,
    ]) {
      assert.match(notices, needed);
    }
  });

  it("names in a stack trace the place of an error, below the name of its source", async () => {
    const script = `
      import { DeviceClient } from "${packageName}";
      try {
        new DeviceClient({ address: "no address" });
      } catch (error) {
        console.log(error.stack);
      }`;
    const { stdout } = await packed.node("--input-type=module", "--eval", script);
    const [, file = "", line = ""] = /readOptions \(file:\/\/(.+\.js):(\d+):\d+\)/.exec(stdout) ?? [];
    assert.ok(file.startsWith(await realpath(join(packed.installed, "dist"))), stdout);
    const lines = (await readFile(file, "utf8")).split("\n").slice(0, Number(line));
    assert.match(lines.at(-1) ?? "", /throw new DimensionerError\("configInvalid"/);
    assert.equal(
      lines.findLast((one) => one.startsWith("// src/")),
      "// src/device/client.ts",
    );
  });

  it("brings the six packages that it needs, with what they need, as they are locked, and nothing else", async () => {
    const modules = await readdir(join(packed.userDir, "node_modules"));
    assert.deepEqual(modules.filter((name) => !name.startsWith(".")).toSorted(), [
      "@dimflow",
      "@peculiar",
      "asn1js",
      "aws4fetch",
      "pg",
      "pg-cloudflare",
      "pg-connection-string",
      "pg-int8",
      "pg-pool",
      "pg-protocol",
      "pg-types",
      "pgpass",
      "postgres-array",
      "postgres-bytea",
      "postgres-date",
      "postgres-interval",
      "re2js",
      "split2",
      "undici",
      "valibot",
      "xtend",
    ]);
    for (const [name, version] of lockedVersions()) {
      const path = join(packed.userDir, "node_modules", name, "package.json");
      const installed = JSON.parse(await readFile(path, "utf8")) as { version: string };
      assert.equal(installed.version, version, name);
    }
  });

  it("is a library that is imported by name, without Node-RED", async () => {
    const script = `
      import { DeviceClient, CloudClient, DimensionerError } from "${packageName}";
      import { startSimulator } from "${packageName}/simulator";
      const simulator = await startSimulator();
      const device = new DeviceClient({ address: simulator.newer.origin });
      const { result } = await device.measure();
      console.log(typeof CloudClient, typeof DimensionerError, result.ok);
      await device.close();
      await simulator.close();`;
    const { exitCode, stdout, stderr } = await packed.node("--input-type=module", "--eval", script);
    assert.equal(stderr, "");
    assert.equal(stdout.trim(), "function function true");
    assert.equal(exitCode, 0);
  });

  it("loads no dependency but valibot together with its node types, and SQLite only in a thread", async () => {
    const script = `
      import { registerHooks } from "node:module";
      const packages = new Set();
      registerHooks({
        load(url, context, next) {
          packages.add(url.split("/node_modules/").at(-1).split("/")[0]);
          return next(url, context);
        },
      });
      await import(import.meta.resolve("${packageName}/package.json").replace("package.json", "dist/nodes/nodes.js"));
      console.log([...packages].filter((name) => name === "node:sqlite" || !name.startsWith("node:")).sort().join(" "));`;
    const { stdout, stderr } = await packed.node("--input-type=module", "--eval", script);
    assert.equal(stderr, "");
    assert.equal(stdout.trim(), "@dimflow valibot");
  });

  it("has a simulator that is started by its name", async () => {
    const { exitCode, stdout } = await packed.npm(
      "exec",
      "--offline",
      "--",
      "dimensioner",
      "simulator",
      "--help",
    );
    assert.equal(exitCode, 0);
    assert.match(stdout, /^Usage: dimensioner simulator/m);
  });

  describe("in a project with a type checker", () => {
    before(() => makeProject(packed.userDir));

    for (const resolution of resolutions) {
      it(`has types that resolve by ${resolution}, and that see a slip`, async () => {
        const said = await compile(packed.userDir, resolution);
        assert.equal(said.length, 1, said.join("\n"));
        assert.match(said[0] ?? "", /^wrong\.mjs\(4,\d+\): error TS\d+: .*unknown/);
      });
    }

    it("runs the programs of docs/typescript.md", async () => {
      const programs = await runnablePrograms();
      assert.ok(programs.length >= 2);
      for (const program of programs) {
        const { exitCode, stderr } = await packed.node("--input-type=module", "--eval", program);
        assert.deepEqual([exitCode, stderr], [0, ""]);
      }
    });
  });

  describe("in a real Node-RED", () => {
    let run: ExamplesRun;

    before(async () => {
      run = await startExamples(["01"], { userDir: packed.userDir });
    });
    after(() => run.close());

    it(`runs Node-RED ${nodeRedMajor} with the installed files`, async () => {
      const { version } = (await getJson(run, "/settings")) as { version: string };
      assert.equal(Number.parseInt(version, 10), nodeRedMajor);
    });

    it("loads every type", async () => {
      const { "node-red": manifest, version } = await readManifest();
      const sets = ((await getJson(run, "/nodes")) as NodeSet[]).filter(
        ({ module }) => module === packageName,
      );
      assert.deepEqual(
        sets.map(({ name, types, enabled, err }) => ({ name, types, enabled, err })),
        Object.keys(manifest.nodes).map((name) => ({ name, types: [name], enabled: true, err: undefined })),
      );
      assert.ok(sets.every((set) => set.local && set.version === version));
    });

    it("serves the form, the help, the catalog and an icon that is there", async () => {
      const { "node-red": manifest } = await readManifest();
      const icons = (await getJson(run, "/icons")) as Record<string, string[]>;
      for (const type of Object.keys(manifest.nodes)) {
        const set = `${packageName}/${type}`;
        const headers = { Accept: "text/html", "Accept-Language": "en-US" };
        const page = await (await run.nodeRed.adminFetch(`/nodes/${set}`, { headers })).text();
        assert.match(page, new RegExp(`registerType\\(\\s*"${type}"`), `${type}: registration`);
        assert.match(page, new RegExp(`data-template-name="${type}"`), `${type}: form`);
        assert.match(page, new RegExp(`data-help-name="${type}"`), `${type}: help`);
        const catalog = await getJson(run, `/nodes/${set}/messages?lng=en-US`);
        assert.ok(Object.keys(catalog as object).length > 0, `${type}: catalog`);
        const icon = /registerType\([^]*?\bicon:\s*"([^"]+)"/.exec(page)?.[1];
        if (icon !== undefined) {
          assert.ok(
            icons[packageName]?.includes(icon) === true || icon.startsWith("font-awesome/"),
            `${type}: ${icon}`,
          );
          const served = await run.nodeRed.adminFetch(`/icons/${packageName}/${icon}`);
          assert.equal(served.status, 200, icon);
        }
      }
    });

    it("offers the examples for import", async () => {
      for (const file of await exampleNames()) {
        const name = file.replace(/\.json$/, "");
        const path = `/library/examples/flows/${packageName}/${encodeURIComponent(name)}`;
        assert.deepEqual(await getJson(run, path), await readExample(name));
      }
    });

    it("runs example 01 from the scan to the archive", async () => {
      await run.press("01", "Scan: packing begins", ["Recording"]);
      const said = await run.press("01", "Scan: parcel is packed", ["Archived"]);
      const files = await filesIn(said.get("Archived") ?? "");
      for (const name of ["measurement.json", "measurement.raw", "manifest.json", "ColorVideoMp4.mp4"]) {
        assert.ok(files.includes(name), `${name} is not among ${files.join(", ")}`);
      }
    });

    it("takes a flow that 0.1.0 has saved, and gives it back unchanged", async () => {
      const file = join(repository, "test/fixtures/flows/0.1.0.json");
      const saved = JSON.parse(await readFile(file, "utf8")) as object[];
      const before = run.nodeRed.logs.length;
      await run.nodeRed.deploy(saved);
      assert.deepEqual(await getJson(run, "/flows"), saved);
      const said = run.nodeRed.logs.slice(before);
      assert.ok(!said.some((line) => /\[error\]/.test(line)), said.join("\n"));
    });
  });

  interface NodeSet {
    readonly module: string;
    readonly name: string;
    readonly types: readonly string[];
    readonly enabled: boolean;
    readonly local: boolean;
    readonly version: string;
    readonly err?: string;
  }

  interface Manifest {
    readonly version: string;
    readonly "node-red": { readonly nodes: Readonly<Record<string, string>> };
  }

  async function readManifest(): Promise<Manifest> {
    return JSON.parse(await readFile(join(packed.installed, "package.json"), "utf8")) as Manifest;
  }

  async function getJson(run: ExamplesRun, path: string): Promise<unknown> {
    const answer = await run.nodeRed.adminFetch(path, { headers: { Accept: "application/json" } });
    assert.equal(answer.status, 200, path);
    return answer.json();
  }
});
