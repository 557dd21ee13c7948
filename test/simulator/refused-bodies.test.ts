import assert from "node:assert/strict";

import { exchange, headerOf, requestText, useSimulators } from "./support.ts";

/** More than the system keeps for a connection: the sender can only write it as the other side reads. */
const bytes = 20_000_000;
const body = "x".repeat(bytes);

describe("simulator: control port, and a sender that writes its whole body before it reads", () => {
  const start = useSimulators();

  const refusals: readonly (readonly [number, string, string])[] = [
    [413, "/mode", "application/json"],
    [415, "/mode", "text/plain"],
    [404, "/nothing", "application/json"],
  ];
  for (const [status, path, type] of refusals) {
    it(`gives it the answer ${status}`, async () => {
      const sim = await start();
      const headers = `Content-Type: ${type}\r\nContent-Length: ${bytes}\r\n`;
      const { text, end } = await exchange(sim.control.port, requestText(path, "POST", headers) + body);
      assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.equal(headerOf(text, "connection"), "close");
      assert.equal(end, "fin");
    });
  }
});
