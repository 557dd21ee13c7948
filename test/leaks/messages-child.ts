import { read, readWarnings } from "./instruments.ts";
import type { Places } from "./places.ts";
import { casesOf, configNodes, credentialsOf, type Case } from "./cases.ts";
import { forget, startLeanFlow } from "./lean-flow.ts";
import type { MessagesReport } from "./reports.ts";

/**
 * Sends messages through every action node of one deploy, a tenth of them with a fault, and reports what is left of
 * them.
 */
const [given = "{}", count = "0"] = process.argv.slice(2);
const places = JSON.parse(given) as Places;
const cases = casesOf(places);
const wheel = cases.flatMap((one) => Array.from({ length: one.share }, () => one));
const atOnce = 48;
/** After twice as many, and a reading after each time, all code was loaded and compiled, also that of what ends when idle. */
const warmUpMessages = 1_000;

const flow = await startLeanFlow(
  [...configNodes(places), ...cases.map(({ node }) => node)],
  credentialsOf(places),
);
/** Messages that ended in an unexpected way. */
const surprises: string[] = [];
let [sent, failed] = [0, 0];

await sendAll(warmUpMessages);
await read([flow.events]);
await sendAll(warmUpMessages);
[sent, failed] = [0, 0];
const before = await read([flow.events]);
await sendAll(Number(count));
const after = await read([flow.events]);
const report: MessagesReport = { before, after, sent, failed, surprises, warnings: readWarnings() };
process.send?.(report);
await flow.stop();
process.disconnect();

/** Sends in rounds; after each one its messages are checked and forgotten. */
async function sendAll(total: number): Promise<void> {
  const round = 600;
  for (let begun = 0; begun < total; begun += round) {
    await sendRound(begun, Math.min(total, begun + round));
  }
}

async function sendRound(first: number, end: number): Promise<void> {
  let next = first;
  const expected = new Map<string, { nodeId: string; isBad: boolean }>();
  const work = async (): Promise<void> => {
    for (let index = next++; index < end; index = next++) {
      // Steps without a common divisor, so that each case meets faults.
      const one = wheel[(index * 37) % wheel.length] as Case;
      const isBad = index % 10 === 9;
      const msg = { ...one.good(), ...(isBad ? one.bad : {}), _msgid: `m${index}` };
      expected.set(msg._msgid, { nodeId: one.node.id, isBad });
      await flow.start(one.node.id, msg);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  // A second end of a message would follow in the same or the next turn.
  await new Promise((resolve) => setImmediate(resolve));
  check(expected);
}

function check(expected: ReadonlyMap<string, { nodeId: string; isBad: boolean }>): void {
  const ends = new Map<string, number>();
  for (const { nodeId, msgId, error } of flow.ends) {
    if (nodeId.startsWith("case-")) {
      ends.set(msgId, (ends.get(msgId) ?? 0) + 1);
      const one = expected.get(msgId);
      const outputs = flow.sent.filter((other) => other.nodeId === nodeId && other.msg["_msgid"] === msgId);
      failed += error === undefined ? 0 : 1;
      if (one?.isBad !== (error !== undefined) || (error !== undefined && outputs.length > 0)) {
        surprises.push(
          `${nodeId} ${msgId}: ${error?.code ?? "success"} ${outputs.length} ${error?.message ?? ""}`,
        );
      }
    }
  }
  for (const [msgId, { nodeId }] of expected) {
    if (ends.get(msgId) !== 1) {
      surprises.push(`${nodeId} ${msgId}: ended ${ends.get(msgId) ?? 0} times`);
    }
  }
  sent += expected.size;
  forget(flow);
}
