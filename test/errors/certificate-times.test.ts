import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer } from "node:tls";
import { connectProblem } from "../../src/errors/connect-problem.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { identity, pem } from "../support/tls.ts";

/** What is said of a server with this certificate. */
async function said(name: string): Promise<string> {
  const server = createServer(identity(name)).listen(0, "127.0.0.1");
  try {
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const socket = connect({ host: "127.0.0.1", port, ca: pem("authority.crt") });
    const [cause] = (await once(socket, "error").catch((error: unknown) => [error])) as [Error];
    const facts = { surface: "cloud", operation: "devices", cause } as const;
    return new DimensionerError("unreachableTls", facts, { host: "cloud", problem: connectProblem(cause) })
      .message;
  } finally {
    server.close();
  }
}

describe("a certificate that is not valid at this time", () => {
  it("is said with the time of this computer, whose clock may be what is wrong", async () => {
    const today = new Date().toISOString().slice(0, 10);
    assert.match(
      await said("expired"),
      new RegExp(`certificate has expired, and the clock of this computer says ${today}T[\\d:.]+Z\\.`),
    );
  });

  it("is the only one that has to do with the time", async () => {
    assert.doesNotMatch(await said("self-signed"), /clock/);
  });
});
