import assert from "node:assert/strict";
import { type Socket, createServer } from "node:net";
import { readPostgresUrl } from "../../src/database/postgres-address.ts";
import { StoreDatabases } from "../../src/database/store-databases.ts";
import { testDatabase } from "../../src/runtime/admin/store-test.ts";
import { listen } from "../support/servers.ts";

describe("Test connection of a store's database", () => {
  it("says of a server that does not respond what to check: not a disk", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
    const address = readPostgresUrl(`postgres://somebody@127.0.0.1:${await listen(server)}/packages`);
    const lines = await testDatabase({
      databases: new StoreDatabases(),
      location: { kind: "postgres", address },
      isDeployed: false,
      signal: AbortSignal.abort(),
      withinMs: 5_000,
    });
    assert.deepEqual(
      lines.map(({ state, key, values }) => [state, key, values["seconds"]]),
      [["bad", "postgresUnanswered", 5]],
    );
    server.close();
    for (const socket of sockets) {
      socket.destroy();
    }
  });
});
