import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { TestFlow } from "../support/flow.ts";
import { freePort } from "../support/servers.ts";

/** What may hold up the event loop at most, and what the heap may grow by; without limits seconds and gigabytes. */
const mostHeldMs = 2_000;
const mostGrownBytes = 500_000_000;

describe("dimensioner-scan behind something that sends scans without end", () => {
  for (const datatype of ["buffer", "utf8"]) {
    it(`drops the oldest of what waits, says how many, and reads what comes then: ${datatype}`, async () => {
      const port = await freePort();
      const tcp = { datamode: "stream", datatype, newline: "", topic: "", trim: false, tls: "" };
      const receiver = { id: "tcp", z: "tab", type: "tcp in", server: "server", port: String(port), ...tcp };
      const flow = await TestFlow.start([
        { ...receiver, wires: [["node"]] },
        { id: "node", z: "tab", type: "dimensioner-scan", framing: "stream", dedupe: 0 },
      ]);
      try {
        const scanner = connect(port, "127.0.0.1");
        await once(scanner, "connect");
        const delay = monitorEventLoopDelay({ resolution: 5 });
        const before = process.memoryUsage().heapUsed;
        let most = before;
        const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().heapUsed)), 20);
        delay.enable();
        // Two million scans.
        const many = Buffer.from("A\r".repeat(500_000));
        for (let sent = 0; sent < 4; sent += 1) {
          if (!scanner.write(many)) {
            await once(scanner, "drain");
          }
        }
        scanner.write("LAST\r");
        // What waits for a message looks at all others each time.
        while (
          flow.sent.findLast(({ nodeId }) => nodeId === "node")?.msg["transactionReference"] !== "LAST"
        ) {
          await pause(20);
        }
        delay.disable();
        clearInterval(timer);
        scanner.destroy();
        assert.ok(flow.shown.some(({ text }) => /^scans dropped: \d+$/.test(text)));
        assert.deepEqual(
          flow.ends.filter(({ error }) => error !== undefined),
          [],
        );
        assert.ok(delay.max / 1e6 < mostHeldMs, `held up for ${delay.max / 1e6} ms`);
        assert.ok(most - before < mostGrownBytes, `grown by ${(most - before) / 1e6} MB`);
      } finally {
        await flow.stop();
      }
    });
  }
});
