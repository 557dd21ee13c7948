import assert from "node:assert/strict";
import { Client } from "pg";
import { readDatabaseUrl } from "../../src/rules/addresses.ts";
import { connectionString, readPostgresUrl } from "../../src/store/postgres-address.ts";

describe("the address of a PostgreSQL database", () => {
  const accepted = [
    "postgres://packer@db.example.com/packages",
    "postgresql://packer@db.example.com:5433/packages?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem",
    "POSTGRES://[fe80::1]:5432/packages",
    "postgres:///packages",
    "postgres://db",
    "  postgres://db/packages ",
  ];
  for (const given of accepted) {
    it(`“${given}” is one`, () => {
      assert.deepEqual(readDatabaseUrl(given), { url: given.trim() });
      assert.equal(readPostgresUrl(given.trim()).url, given.trim());
    });
  }

  const refused = {
    "": "empty",
    "postgres://db/two words": "addressCharacters",
    "db.example.com/packages": "databaseScheme",
    "https://db.example.com/packages": "databaseScheme",
    "postgres:packages": "databaseScheme",
    "postgres://packer:secret@db/packages": "databasePassword",
    "postgres://packer:@db/packages": "databasePassword",
    "postgres://db/packages?sslmode=require&password=secret": "databasePassword",
    "postgres://db/packages?options=-c%20search_path%3Dother": "databaseOptions",
  };
  for (const [given, problem] of Object.entries(refused)) {
    it(`“${given}” is none: ${problem}`, () => {
      assert.deepEqual(readDatabaseUrl(given), { problem: { phrase: `phrases.${problem}` } });
    });
  }

  const clientOf = (text: string): Client => new Client({ connectionString: text });

  it("is given to the driver with its password, whatever that contains, and also where the environment names the host", () => {
    for (const password of ["simple", "50 % of it: @/?#&+", "ä%41", "%"]) {
      const {
        user,
        host,
        database,
        password: read,
      } = clientOf(
        connectionString(readPostgresUrl("postgres://packer@db:5433/packages?sslmode=disable", password)),
      );
      assert.deepEqual([user, host, database, read], ["packer", "db", "packages", password]);
      assert.equal(
        clientOf(connectionString(readPostgresUrl("postgres:///packages", password))).password,
        password,
      );
    }
    assert.equal(connectionString(readPostgresUrl("postgres:///packages")), "postgres:///packages");
  });

  it("has its certificate checked with each mode that encrypts, and the driver warns of none in the log", () => {
    const modeOf = (text: string): string | null =>
      new URL(connectionString(readPostgresUrl(text))).searchParams.get("sslmode");
    for (const mode of ["prefer", "require", "verify-ca", "verify-full"]) {
      assert.equal(modeOf(`postgres://db/packages?sslmode=${mode}`), "verify-full");
    }
    for (const mode of ["disable", "no-verify"]) {
      assert.equal(modeOf(`postgres://db/packages?sslmode=${mode}`), mode);
    }
    assert.equal(modeOf("postgres://db/packages?sslmode=require&uselibpqcompat=true"), "require");
  });

  it("of the command-line tools has no options either", () => {
    assert.throws(() => readPostgresUrl("postgres://db/packages?options=-c%20work_mem%3D1"), {
      sentence: "postgresAddress",
    });
  });
});
