import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyArchive } from "../../src/index.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { readPackages, until } from "../archive/support.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { tlsFile } from "../support/tls.ts";
import { archivingNodes } from "./fleet-flow.ts";
import { testStore, type Line } from "./store-dialog.ts";

const path = "dimensioner/transaction";
const user = { name: "packer", password: "50 % of it: @/?" } as const;

describe("dimensioner-store with PostgreSQL, in two real Node-REDs", () => {
  let server: PostgresServer;
  let simulator: Simulator;
  let root: string;
  let database: string;
  const nodeReds: NodeRed[] = [];

  before(async () => {
    server = await startPostgres();
    await server.run(`CREATE ROLE ${user.name} LOGIN PASSWORD '${user.password}'`);
    database = await server.makeDatabase();
    await server.run(`GRANT CREATE ON DATABASE ${database} TO ${user.name}`);
    root = await mkdtemp(join(tmpdir(), "packages-"));
    simulator = await startSimulator();
    nodeReds.push(...(await Promise.all([start(), start()])));
  });
  after(async () => {
    await Promise.all(nodeReds.map((one) => one.stop()));
    await simulator?.close();
    await server?.remove();
    await rm(root, { recursive: true, force: true, maxRetries: 3 });
  });

  const start = (): Promise<NodeRed> =>
    // Whoever deploys with a blank password has this one, and must not be able to read it at another server.
    startNodeRed({ major: nodeRedMajor, env: { PGPASSWORD: "of the environment", POOL_SIZE: "2" } });

  const place = () => ({ host: "127.0.0.1", port: server.port, databaseName: database });
  const flow = (): object[] => {
    const at = { z: "tab", x: 100, y: 100 };
    return [
      { id: "tab", type: "tab", label: "test" },
      {
        id: "store",
        type: "dimensioner-store",
        folder: root,
        folderType: "str",
        database: "postgres",
        ...place(),
        tls: "tls",
        credentials: { user: user.name, password: user.password },
      },
      // As the editor saves it: Node-RED 4.1 creates no such node without all three fields.
      {
        id: "tls",
        type: "tls-config",
        name: "",
        cert: "",
        key: "",
        ca: tlsFile("authority.crt"),
        verifyservercert: true,
      },
      ...archivingNodes(simulator.cloud),
      { ...at, id: "ask", type: "http in", url: "/evidence-of", method: "get", wires: [["evidence"]] },
      {
        ...at,
        id: "evidence",
        type: "dimensioner-evidence",
        store: "store",
        action: "verify",
        by: "all",
        wires: [["say"]],
      },
      { ...at, id: "say", type: "http response", wires: [] },
    ];
  };
  const first = (): NodeRed => nodeReds[0] ?? assert.fail();
  const second = (): NodeRed => nodeReds[1] ?? assert.fail();

  /** The lines of Test connection about the database, with these values in the dialog. */
  const test = async (nodeRed: NodeRed, values: object = {}): Promise<readonly Line[]> => {
    const dialog = {
      id: "store",
      folder: root,
      database: "postgres",
      ...place(),
      user: user.name,
      password: user.password,
      ...values,
    };
    const lines = await testStore(nodeRed, dialog, user.password);
    return lines.filter(({ key }) => /^(?:postgres|password|workers|jobs|records|store|config)/.test(key));
  };
  const said = (lines: readonly Line[]): string[] => lines.map(({ state, key }) => `${state} ${key}`);

  const post = async (nodeRed: NodeRed, id: string): Promise<number> => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ id, errorCode: 0 });
    return (await nodeRed.adminFetch(`/${path}`, { method: "POST", headers, body })).status;
  };
  const addImage = (id: string): void =>
    void simulator.cloud.addMedia(id, { contentType: "image/jpeg", generateBytes: 20_000 });
  const rowsOf = (sql: string): Promise<Record<string, unknown>[]> => server.run(sql, database);
  const countOf = async (sql: string): Promise<number> => Number((await rowsOf(sql))[0]?.["count"]);
  const untilArchived = (count: number): Promise<void> =>
    until(
      async () => (await countOf("SELECT count(*) FROM dimensioner.packages")) === count,
      `${count} packages in the index`,
    );
  /** The transactions of the packages in the folder, each with its store. */
  const packagesIn = async (): Promise<string[]> => {
    const packages = [...(await readPackages(root)).values()];
    return packages.map(({ transactionId }) => transactionId ?? "").toSorted();
  };

  it("says in Test connection whether a database without tables can be used, and changes nothing", async () => {
    assert.deepEqual(said(await test(first(), { id: "new" })), ["good postgresEmpty"]);
    assert.equal(await countOf("SELECT count(*) FROM pg_namespace WHERE nspname = 'dimensioner'"), 0);
    assert.deepEqual(said(await test(first(), { id: "new", poolSize: "${POOL_SIZE}" })), [
      "good postgresEmpty",
    ]);
    assert.deepEqual(said(await test(first(), { id: "new", poolSize: "${NONE}" })), ["bad configInvalid"]);
    assert.deepEqual(said(await test(first(), { password: "wrong" })), ["bad postgresLogin"]);
    assert.deepEqual(said(await test(first(), { port: 9 })), ["bad postgresUnreachable"]);
    assert.deepEqual(said(await test(first(), { databaseName: "none" })), ["bad postgresMissing"]);
    for (const wrong of [{ host: "" }, { host: "db:5432" }, { port: "" + 2 ** 16 }, { databaseName: " " }]) {
      assert.deepEqual(said(await test(first(), wrong)), ["bad configInvalid"]);
    }
    assert.deepEqual(said(await test(first(), { tls: "gone" })), ["bad configInvalid"]);

    await server.run("CREATE ROLE visitor LOGIN PASSWORD 'visitor'");
    const asVisitor = { user: "visitor", password: "visitor" };
    const [line] = await test(first(), asVisitor);
    assert.deepEqual([line?.state, line?.key, line?.values["user"]], ["bad", "postgresNoSchema", "visitor"]);
  });

  it("sends no password that is stored or in the environment to another address than the deployed one", async () => {
    for (const password of ["__PWRD__", "", "${PGPASSWORD}"]) {
      assert.deepEqual(said(await test(first(), { password })), ["bad passwordAnew"]);
    }
    await first().deploy(flow());
    await until(
      async () => said(await test(first(), { tls: "tls", password: "__PWRD__" })).includes("good postgres"),
      "the deployed store has made its tables",
    );
    // The last one would send it without encryption.
    for (const elsewhere of [
      { tls: "tls", host: "localhost" },
      { tls: "tls", user: "visitor" },
      { tls: "" },
    ]) {
      for (const password of ["__PWRD__", "", "${PGPASSWORD}"]) {
        assert.deepEqual(said(await test(first(), { ...elsewhere, password })), ["bad passwordAnew"]);
      }
    }
  });

  it("makes its tables with the first deploy, and each Node-RED that names the database works on it", async () => {
    await second().deploy(flow());
    await until(
      async () =>
        (await test(second())).some(({ key, values }) => key === "workers" && values["count"] === 2),
      "both are workers",
    );
    const lines = await test(first());
    assert.deepEqual(said(lines), ["good postgres", "good workers", "good jobsNone", "good recordsNone"]);
    assert.match(String(lines[0]?.values["version"]), /^\d+\.\d+$/);
    const asVisitor = { user: "visitor", password: "visitor" };
    await rowsOf("GRANT USAGE ON SCHEMA dimensioner TO visitor");
    await rowsOf("GRANT SELECT ON ALL TABLES IN SCHEMA dimensioner TO visitor");
    assert.deepEqual(said(await test(first(), asVisitor)), ["bad postgresReadOnly"]);
  });

  it("archives once what the cloud posts to both", async () => {
    const ids = Array.from({ length: 6 }, (_none, index) => `both-${index}`);
    ids.forEach(addImage);
    const statuses = await Promise.all(ids.flatMap((id) => [post(first(), id), post(second(), id)]));
    assert.deepEqual(new Set(statuses), new Set([204]));
    await untilArchived(ids.length);
    await until(
      async () => (await countOf("SELECT count(*) FROM dimensioner.records WHERE handled_at IS NULL")) === 0,
      "every record is handled",
    );
    assert.deepEqual(await packagesIn(), ids);
  });

  it("encrypts all connections as the TLS settings say, and checks the server", async () => {
    const [row] = await rowsOf(
      `SELECT count(*) AS count, bool_and(ssl) AS ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = '${user.name}'`,
    );
    assert.deepEqual([Number(row?.["count"]) >= 2, row?.["ssl"]], [true, true]);
    // From now on, the server refuses all others.
    const [settings] = await rowsOf("SHOW hba_file");
    const file = String(settings?.["hba_file"]);
    await writeFile(file, `hostnossl all ${user.name} all reject\n${await readFile(file, "utf8")}`);
    await rowsOf("SELECT pg_reload_conf()");
    await until(
      async () => said(await test(first())).includes("bad postgresNotAllowed"),
      "the server has read the file",
    );
    assert.ok(said(await test(first(), { tls: "tls" })).includes("good postgres"));
  });

  it("verifies in Node-RED, and with the command-line tools", async () => {
    const answer = await second().adminFetch("/evidence-of");
    const { verdict, packages } = (await answer.json()) as { verdict: string; packages: number };
    assert.deepEqual([verdict, packages], ["ok", 6]);
  });

  it("has its password in no log and no file", async () => {
    for (const { logs, userDir } of nodeReds) {
      assert.equal(logs.join("\n").includes(user.password), false);
      for (const entry of await readdir(userDir, { recursive: true, withFileTypes: true })) {
        if (entry.isFile()) {
          const content = await readFile(join(entry.parentPath, entry.name), "latin1");
          assert.equal(content.includes(user.password), false, entry.name);
        }
      }
    }
  });

  it("finishes the jobs of one that was killed in the other one", async () => {
    const before = await packagesIn();
    const ids = Array.from({ length: 8 }, (_none, index) => `killed-${index}`);
    for (const id of ids) {
      assert.equal(await post(first(), id), 204);
    }
    await until(
      async () =>
        (await countOf("SELECT count(*) FROM dimensioner.jobs WHERE state NOT IN ('reported', 'failed')")) ===
        ids.length,
      "each record has its job",
    );
    await first().kill();
    ids.forEach(addImage);
    // As if a minute had passed. The other one has renewed its own lease by then, and goes on with it if not.
    await rowsOf(
      "UPDATE dimensioner.workers SET lease_until = '' WHERE worker_id = (SELECT worker_id FROM dimensioner.jobs WHERE state NOT IN ('reported', 'failed') LIMIT 1)",
    );
    await untilArchived(before.length + ids.length);
    assert.deepEqual(await packagesIn(), [...before, ...ids].toSorted());
    await first().stop();
    nodeReds.shift();
  });

  it("answers 503 while the server is away, and goes on when it is back, without a deploy", async () => {
    const [only] = nodeReds;
    assert.ok(only !== undefined);
    const before = await packagesIn();
    await server.stop();
    assert.equal(await post(only, "away"), 503);
    await server.start();
    addImage("away");
    await until(async () => (await post(only, "away")) === 204, "the record is taken");
    await untilArchived(before.length + 1);
    process.env["PGPASSWORD"] = user.password;
    const options = `sslmode=verify-full&sslrootcert=${encodeURIComponent(tlsFile("authority.crt"))}`;
    const { port, databaseName } = place();
    const { verdict, packages } = await verifyArchive(root, {
      database: `postgres://${user.name}@127.0.0.1:${port}/${databaseName}?${options}`,
    });
    assert.deepEqual([verdict, packages], ["ok", before.length + 1]);
  });
});
