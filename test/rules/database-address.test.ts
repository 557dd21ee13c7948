import assert from "node:assert/strict";
import { Client } from "pg";
import { addressOfServer, readPostgresUrl } from "../../src/database/postgres-address.ts";
import { connectionTo } from "../../src/database/postgres-connection.ts";
import { readDatabaseHost } from "../../src/rules/addresses.ts";

describe("the host of a PostgreSQL database", () => {
  const accepted = {
    "db.example.com": "db.example.com",
    " db ": "db",
    "10.0.0.7": "10.0.0.7",
    "fe80::1": "[fe80::1]",
    "[fe80::1]": "[fe80::1]",
    "/var/run/postgresql": "%2Fvar%2Frun%2Fpostgresql",
  };
  for (const [given, host] of Object.entries(accepted)) {
    it(`“${given}” is one`, () => {
      assert.deepEqual(readDatabaseHost(given), { host });
    });
  }

  const refused = {
    "": "empty",
    "two words": "addressCharacters",
    "db.example.com:5432": "databaseHost",
    "postgres://db": "databaseHost",
    "packer@db": "databaseHost",
    "db/packages": "databaseHost",
    "fe80::x": "databaseHost",
    "[db]": "databaseHost",
  };
  for (const [given, problem] of Object.entries(refused)) {
    it(`“${given}” is none: ${problem}`, () => {
      assert.deepEqual(readDatabaseHost(given), { problem: { phrase: `phrases.${problem}` } });
    });
  }
});

describe("the address of a PostgreSQL database", () => {
  const server = {
    host: "db",
    port: 5433,
    databaseName: "packages",
    user: "packer",
    password: "",
    tls: undefined,
  };
  const difficult = ["simple", "50 % of it: @/?#&+", "ä%41", "%"];

  it("is given to the driver with its password, whatever that contains, and also where the environment names the host", () => {
    for (const password of difficult) {
      for (const address of [
        addressOfServer({ ...server, password }),
        readPostgresUrl("postgres://packer@db:5433/packages", password),
      ]) {
        const { user, host, port, database, password: read } = new Client(connectionTo(address));
        assert.deepEqual([user, host, port, database, read], ["packer", "db", 5433, "packages", password]);
      }
      const ofEnvironment = connectionTo(readPostgresUrl("postgres:///packages", password));
      assert.equal(new Client(ofEnvironment).password, password);
    }
    const unchanged = "postgres:///packages";
    assert.deepEqual(connectionTo(readPostgresUrl(unchanged)), { connectionString: unchanged });
  });

  it("has the fields of a dialog as they are, and is the one that the command-line tools take", () => {
    for (const user of difficult) {
      for (const [host, read] of [
        ["[fe80::1]", "fe80::1"],
        ["%2Fvar%2Frun%2Fpostgresql", "/var/run/postgresql"],
      ] as const) {
        const { url, name } = addressOfServer({ ...server, host, user, databaseName: "Dock 4 ü" });
        const client = new Client(connectionTo(readPostgresUrl(url)));
        assert.deepEqual([client.user, client.host, client.database], [user, read, "Dock 4 ü"]);
        assert.equal(name, readPostgresUrl(url).name);
      }
    }
    assert.equal(addressOfServer({ ...server, user: "" }).url, "postgres://db:5433/packages");
  });

  it("says that the certificate of the server is checked where TLS settings are selected, unless they do not want it", () => {
    const tls = { ca: "PEM", servername: "other.example.com" };
    const address = addressOfServer({ ...server, tls });
    assert.equal(address.url, "postgres://packer@db:5433/packages?sslmode=verify-full");
    const { connectionString, ssl } = connectionTo(address);
    assert.equal(connectionString, "postgres://packer@db:5433/packages");
    assert.deepEqual([ssl?.ca, ssl?.servername], ["PEM", "other.example.com"]);
    const unchecked = addressOfServer({ ...server, tls: { rejectUnauthorized: false } });
    assert.match(unchecked.url, /\?sslmode=no-verify$/);
    assert.deepEqual(connectionTo(unchecked).ssl, { rejectUnauthorized: false });
  });

  it("has its certificate checked with each mode that encrypts, and the driver warns of none in the log", () => {
    const modeOf = (text: string): string | null =>
      new URL(connectionTo(readPostgresUrl(text)).connectionString).searchParams.get("sslmode");
    for (const mode of ["prefer", "require", "verify-ca", "verify-full"]) {
      assert.equal(modeOf(`postgres://db/packages?sslmode=${mode}`), "verify-full");
    }
    for (const mode of ["disable", "no-verify"]) {
      assert.equal(modeOf(`postgres://db/packages?sslmode=${mode}`), mode);
    }
    assert.equal(modeOf("postgres://db/packages?sslmode=require&uselibpqcompat=true"), "require");
  });

  it("is not repeated with what may be its password if it is none", () => {
    for (const text of ["postgres://packer:classi/fied@db/packages", "postgres://packer:classified@[db]/x"]) {
      assert.throws(
        () => readPostgresUrl(text),
        (error: Error) => !/packer|classi|fied/.test(error.message),
      );
    }
  });

  it("of the command-line tools has no options", () => {
    assert.throws(() => readPostgresUrl("postgres://db/packages?options=-c%20work_mem%3D1"), {
      sentence: "postgresAddress",
    });
  });
});
