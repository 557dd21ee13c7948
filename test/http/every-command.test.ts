import assert from "node:assert/strict";
import { startSimulator, type Fault, type Simulator } from "../../src/simulator/index.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import {
  commands,
  connectClients,
  deviceCode,
  token,
  type Clients,
  type CommandOperation,
} from "../support/operations.ts";

const timeoutMs = 60_000;

/** Starts a simulator in a state in which the command has an effect. */
async function startFor(command: CommandOperation): Promise<Simulator> {
  const mode = command.kind === "video" ? "video-only" : "video-with-measurement";
  const sim = await startSimulator({ mode, token, deviceCode });
  if (command.operation.endsWith("stop")) {
    await fetch(`${sim.newer.origin}/api/v1/video/start`, { method: "POST" });
  }
  return sim;
}

describe("a command that the client aborts, or whose connection breaks", () => {
  const opened = closesAfterEach();

  async function begin(command: CommandOperation): Promise<{ sim: Simulator; clients: Clients }> {
    const sim = opened(await startFor(command));
    return { sim, clients: opened(connectClients(sim, timeoutMs)) };
  }

  it("is sent on a new connection if the last one was closed after its response", () =>
    Promise.all(
      commands.map(async (command) => {
        const { sim, clients } = await begin(command);
        const fault: Fault = { kind: "keep-alive-dies", when: "after-answer" };
        sim.faults.add({ surface: command.surface, path: command.path, fault });
        await command.run(clients);
        await command.run(clients).catch(() => undefined);
        assert.equal(sim.requestsTo(command.surface, command.path).length, 2);
      }),
    ));

  it("has an unknown outcome if a signal aborts it while it runs", () =>
    Promise.all(
      commands.map(async (command) => {
        const { sim, clients } = await begin(command);
        sim.faults.add({ times: 0, fault: { kind: "silence" } });
        const arrived = sim.nextRequest();
        const abort = new AbortController();
        const failed = failsWith(command.run(clients, { signal: abort.signal }), {
          code: "ERR_CANCELLED",
          outcome: "unknown",
        });
        await arrived;
        abort.abort();
        await failed;
        assert.equal(sim.requestsTo(command.surface, command.path).length, 1);
      }),
    ));

  it("is not sent if a signal has aborted before", () =>
    Promise.all(
      commands.map(async (command) => {
        const { sim, clients } = await begin(command);
        await failsWith(command.run(clients, { signal: AbortSignal.abort() }), {
          code: "ERR_CANCELLED",
          outcome: "not-sent",
          retryable: true,
        });
        assert.equal(sim.requestsTo(command.surface, command.path).length, 0);
      }),
    ));

  it("is sent at most once if its connection is reset as soon as it is established", () =>
    Promise.all(
      commands.map(async (command) => {
        const { sim, clients } = await begin(command);
        sim.faults.add({ surface: command.surface, times: 0, fault: { kind: "connect-reset" } });
        const before = sim.requests.length;
        // Whether the request was written before the reset arrived is a matter of microseconds.
        await assert.rejects(command.run(clients), /connection to/i);
        assert.equal(sim.requests.length, before);
        assert.equal(command.done(sim), 0);
      }),
    ));
});
