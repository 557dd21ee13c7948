import type { ServerResponse } from "node:http";

import { stateOf } from "./control-routes.ts";
import type { Simulator } from "./simulator.ts";

// State changes come in bursts; a watcher needs the last one only.
const stateEveryMs = 50;
// A watcher that doesn't read is let go rather than kept in memory.
const mostUnreadBytes = 1024 * 1024;
// How soon a browser that was let go, or whose simulator was started anew, comes back.
const retryMs = 1000;

/** The last few of everything, for a watcher that shows lists. */
function recentOf(sim: Simulator, count: number): Record<string, unknown> {
  return {
    requests: sim.requests.slice(-count),
    transactions: sim.cloud.transactions.slice(-count),
    webhooks: sim.cloud.webhookPosts.slice(-count),
  };
}

/**
 * Server-sent events until the watcher goes: what happened last, if it asks for some of that, then the state, then
 * whatever happens.
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
