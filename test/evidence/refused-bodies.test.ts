import assert from "node:assert/strict";
import { withFolder } from "../media/support.ts";
import { exchange, requestText } from "../simulator/support.ts";
import { withPage } from "./support.ts";

/** More than the system keeps for a connection: the sender can only write it as the other side reads. */
const bytes = 20_000_000;

describe("the evidence page, and a sender that writes its whole body before it reads", () => {
  it("gives it the answer that the body is too large", () =>
    withFolder((root) =>
      withPage(root, { by: "logins", logins: [] }, async ({ url }) => {
        const port = Number(new URL(url).port);
        const headers = `Sec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n`;
        const request = requestText("/evidence/api/login", "POST", headers) + "x".repeat(bytes);
        const { text, end } = await exchange(port, request);
        assert.match(text, /^HTTP\/1\.1 413 /);
        assert.equal(end, "fin");
      }),
    ));
});
