import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import type { FlowNode } from "../support/examples.ts";
import { startProxy, type FreezingProxy } from "../support/freezing-proxy.ts";
import { sharedPostgres } from "../support/shared-postgres.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";
import { severalParcels } from "./several-parcels.ts";

const example = "15";
const scan = "Scan a parcel";

/** A user directory in which Node-RED has installed the module that the Function nodes name. */
async function userDirWithPg(folder: string): Promise<string> {
  const userDir = join(folder, "node-red");
  await mkdir(join(userDir, "node_modules"), { recursive: true });
  await writeFile(join(userDir, "package.json"), JSON.stringify({ dependencies: { pg: "*" } }));
  const installed = dirname(createRequire(import.meta.url).resolve("pg/package.json"));
  await symlink(installed, join(userDir, "node_modules", "pg"), "dir");
  return userDir;
}

/** A node of the example, where each Function node makes a client, with another limit of that client. */
function withLimit(node: FlowNode, shipped: string, other: string): FlowNode {
  if (node.type !== "function") {
    return node;
  }
  const { func } = node;
  assert.ok(typeof func === "string" && func.includes(shipped), shipped);
  return { ...node, func: func.replace(shipped, other) };
}

describe("example 15: PostgreSQL", () => {
  let folder: string;
  let run: ExamplesRun;
  let database: string;
  let proxy: FreezingProxy;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "postgresql-"));
    const { port, admin, makeDatabase } = await sharedPostgres();
    const name = await makeDatabase();
    const addressAt = (at: number) =>
      `postgres://${admin.user}:${encodeURIComponent(admin.password)}@127.0.0.1:${at}/${name}`;
    database = addressAt(port);
    proxy = await startProxy(port);
    const value = addressAt(proxy.port);
    run = await startExamples([example], {
      userDir: await userDirWithPg(folder),
      adapt: (node) => {
        if (node.type === "tab") {
          return { ...node, env: [{ name: "DATABASE", value, type: "str" }] };
        }
        // On a busy computer a connection can need longer than a person at a packing table would wait.
        return withLimit(node, "connectionTimeoutMillis: 5000", "connectionTimeoutMillis: 60000");
      },
    });
  });
  after(async () => {
    await run?.close();
    proxy?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function rows(): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: database });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>("SELECT * FROM measurement")).rows;
    } finally {
      await client.end();
    }
  }

  it("makes the table, inserts each measurement once, and says so where it cannot", async () => {
    const said = await run.press(example, scan, ["What to do"]);
    assert.match(said.get("What to do") ?? "", /relation "measurement" does not exist/);
    await run.press(example, "Create the table", ["Ready"]);
    run.simulator.faults.add(severalParcels("newer"));
    const several = await run.press(example, scan, ["What to do"]);
    assert.match(several.get("What to do") ?? "", /^Several objects were measured together/);
    await run.press(example, scan, ["Stored"]);
    const [row, ...others] = await rows();
    assert.deepEqual(others, []);
    assert.ok(row !== undefined);
    const { id, measured_at: measuredAt, ...values } = row;
    assert.ok(measuredAt instanceof Date);
    assert.match(String(id), /^[\da-f-]{36}$/);
    assert.deepEqual(values, {
      reference: "395212340000004173",
      device: "Dock 1",
      length: "33.5",
      width: "21",
      height: "12.5",
      unit: "cm",
      weight: "1.27",
      weight_unit: "kg",
    });
  });

  it("says so where the connection breaks during the statement, or its answer does not come", async () => {
    await run.press(example, "Create the table", ["Ready"]);
    const isStatement = (chunk: Buffer) => chunk.includes("INSERT INTO");
    proxy.afterNext(isStatement, () => proxy.cut());
    const broken = await run.press(example, scan, ["What to do"]);
    assert.match(broken.get("What to do") ?? "", /Connection terminated|ECONNRESET/);
    await run.press(example, scan, ["Stored"]);
    // The limit as it is shipped would take as long here.
    await run.redeploy((node) => withLimit(node, "query_timeout: 10000", "query_timeout: 100"));
    proxy.afterNext(isStatement, () => proxy.freeze());
    const silent = await run.press(example, scan, ["What to do"]);
    assert.match(silent.get("What to do") ?? "", /Query read timeout/);
  });
});
