import { checkMessages, checkRedeploys } from "./rounds.ts";

/** Far more than a slow computer needs. */
const longestMs = 400_000;

describe("leaks: connections, timers, listeners, files and memory are where they were", function () {
  this.timeout(longestMs);

  it("after 4,000 messages with a fault in every tenth, each of which ended once", async () => {
    await checkMessages(4_000);
  });

  it("after 40 redeploys under load", async () => {
    await checkRedeploys(40);
  });
});
