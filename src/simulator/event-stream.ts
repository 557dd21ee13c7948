import type { ServerResponse } from "node:http";

import { stateOf } from "./control-routes.ts";
import type { Simulator } from "./simulator.ts";

// State changes come in bursts; a client needs only the last state.
const stateEveryMs = 50;
// The connection of a client that does not read is closed, so that its events do not pile up in memory.
const mostUnreadBytes = 1024 * 1024;
// How soon a browser reconnects.
const retryMs = 1000;

/** The latest entries of each list. */
function recentOf(sim: Simulator, count: number): Record<string, unknown> {
  return {
    requests: sim.requests.slice(-count),
    transactions: sim.cloud.transactions.slice(-count),
    webhooks: sim.cloud.webhookPosts.slice(-count),
  };
}

/**
 * Sends server-sent events until the client disconnects: first the latest past events, if it requests them, then the
 * state, then each event as it happens.
 */
export function streamEvents(sim: Simulator, response: ServerResponse, recent: number): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  let timer: NodeJS.Timeout | undefined;

  function tell(event: string, data: unknown): void {
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (response.writableLength > mostUnreadBytes) {
      response.destroy();
    }
  }
  function tellState(): void {
    timer = undefined;
    tell("state", stateOf(sim));
  }

  const ends = [
    sim.onRequest((record) => tell("request", record)),
    sim.onSettled((record) => tell("settled", record)),
    sim.onEvent((event) => {
      if (event.type === "state") {
        timer ??= setTimeout(tellState, stateEveryMs);
      } else {
        tell(event.type, event);
      }
    }),
  ];
  response.on("close", () => {
    ends.forEach((end) => end());
    clearTimeout(timer);
  });
  response.write(`retry: ${retryMs}\n`);
  if (recent > 0) {
    tell("recent", recentOf(sim, recent));
  }
  tellState();
}
