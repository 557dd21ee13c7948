/**
 * What stays of messages and of deploys, 25 times as many as in npm test:
 *
 *   node test/long/leaks.ts [messages] [deploys]
 */
import { checkMessages, checkRedeploys } from "../leaks/rounds.ts";
import type { Reading } from "../leaks/instruments.ts";

const messages = Number(process.argv[2] ?? 100_000);
const deploys = Number(process.argv[3] ?? 1_000);

const grown = ({ before, after }: { readonly before: Reading; readonly after: Reading }): string =>
  `${after.heapBytes - before.heapBytes} bytes more on the heap, ${after.bufferBytes - before.bufferBytes} in buffers`;

const sent = await checkMessages(messages);
console.log(`leaks: ${sent.sent} messages, ${sent.failed} with a fault, each ended once; ${grown(sent)}`);
const deployed = await checkRedeploys(deploys);
console.log(`leaks: ${deploys} deploys, ${deployed.ended} messages, each ended once; ${grown(deployed)}`);
