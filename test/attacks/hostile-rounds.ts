import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  array,
  assert as check,
  asyncProperty,
  constantFrom,
  json,
  oneof,
  record,
  tuple,
  type Arbitrary,
} from "fast-check";
import { startNodeRed, type NodeRed } from "../support/node-red.ts";
import { replyJson, startServer } from "../support/servers.ts";
import { actionIds, hostileFlow } from "./hostile-flow.ts";
import { WebhookLoad } from "./webhook-load.ts";

interface End {
  readonly first: number;
  readonly second: number;
  readonly caught: number;
  readonly completed: number;
}

/** A library that looks in it for references to other texts takes hours behind the open parenthesis. */
const reference = `$t(${"x".repeat(60)}`;

/** JSON texts: deep, wide, huge and random ones. */
const values: Arbitrary<string> = oneof(
  json({ maxDepth: 6 }),
  tuple(constantFrom(10, 60, 63, 64, 65, 500, 2_000, 5_000, 100_000), constantFrom("[", '{"a":')).map(
    ([levels, opening]) => opening.repeat(levels) + "1" + (opening === "[" ? "]" : "}").repeat(levels),
  ),
  constantFrom(100, 1_000, 9_000, 10_001, 100_000, 300_000).map(
    (keys) => `{${Array.from({ length: keys }, (_, index) => `"k${index}":${index}`).join()}}`,
  ),
  constantFrom(1_000, 9_000, 50_000, 500_000).map((items) => `[${"[],".repeat(items)}[]]`),
  constantFrom(1_000, 400_000, 900_000, 4_000_000, 6_000_000).map((length) => `"${"x".repeat(length)}"`),
  constantFrom(
    "1e400",
    "123456789012345678901234567890",
    "-0",
    '{"__proto__":{"ok":true}}',
    '{"hasOwnProperty":1}',
    JSON.stringify(reference),
  ),
  array(json({ maxDepth: 3 }), { maxLength: 200 }).map((texts) => `[${texts.join()}]`),
);

function measurementWith(value: string): string {
  return `{"errorCode":0,"objectCount":1,"measuredObjects":[{"errorCode":0,"length":1,"more":${value}}]}`;
}

function failureWith(value: string): string {
  return `{"errorCode":7,"errorMessage":${value},"measuredObjects":[],"more":${value}}`;
}

/** What stands around such a value: nothing, or what the API promises with one more field. */
const around: Arbitrary<(value: string) => string> = constantFrom(
  (value: string) => value,
  measurementWith,
  failureWith,
  (value: string) => `[{"id":"1","contentId":"5","contentType":"image/jpeg","more":${value}}]`,
  (value: string) => `{"id":"1","errorCode":0,"more":${value}}`,
);

/** What the message itself brings. */
const brought = record({
  levels: constantFrom(0, 0, 400, 600, 3_000, 20_000),
  keys: constantFrom(0, 0, 1_000, 100_000),
  text: constantFrom("", "", reference, `]E0${reference}`),
});

/** Always among the runs: what ended Node-RED, or left messages without an end, before there were limits. */
const examples: [string, (value: string) => string, { levels: number; keys: number; text: string }][] = [
  ["[".repeat(5_000) + "]".repeat(5_000), measurementWith, { levels: 0, keys: 0, text: "" }],
  ["1", measurementWith, { levels: 3_000, keys: 0, text: "" }],
  [JSON.stringify(reference), failureWith, { levels: 0, keys: 0, text: `]E0${reference}` }],
];

/** Ends exactly once: on both wires, or in the Catch node. A list that is split is as many messages as it has items. */
function isOneEnd(id: string, end: End | undefined): boolean {
  if (end === undefined || end.first !== end.second) {
    return false;
  }
  const { first, caught, completed } = end;
  if (id.startsWith("record")) {
    return first === 1 && caught === 0;
  }
  return (
    completed + caught === 1 && (caught === 0 ? first === 1 || id.startsWith("list-split") : first === 0)
  );
}

/**
 * Hands random values to every node type of a real Node-RED: as what a device or cloud answers, as what is posted to the
 * webhook, and as what a message brings. Throws, with the seed, where a message does not end exactly once.
 */
export async function throwHostileValues(major: 4 | 5, numRuns: number, seed: number): Promise<void> {
  let answer = "";
  let next = 0;
  const server = await startServer((_request, socket) => replyJson(socket, answer));
  const folder = await mkdtemp(join(tmpdir(), "hostile-"));
  let nodeRed: NodeRed | undefined;
  try {
    nodeRed = await startNodeRed({ major, flows: hostileFlow(server.origin, folder) });
    const started = nodeRed;
    const load = new WebhookLoad(started, 4);
    const ends = async (): Promise<Record<string, End>> =>
      (await (await started.adminFetch("/ends")).json()) as Record<string, End>;

    await check(
      asyncProperty(values, around, brought, async (value, wrap, own) => {
        answer = wrap(value);
        const sent = new Set<string>();
        await Promise.all(
          actionIds.map(async (node) => {
            const id = `${node}-${next++}`;
            const body = JSON.stringify({ to: node, id, ...own });
            const headers = { "content-type": "application/json" };
            assert.equal(
              (
                await started.adminFetch("/go", {
                  method: "POST",
                  headers,
                  body,
                  signal: AbortSignal.timeout(90_000),
                })
              ).status,
              200,
            );
            sent.add(id);
          }),
        );
        const id = `record-${next++}`;
        const status = await load.postText(`{"id":"${id}","errorCode":0,"more":${value}}`);
        assert.ok([204, 400, 413].includes(status), `${status}`);
        if (status === 204) {
          sent.add(id);
        }
        await untilEnded(ends, sent);
      }),
      { numRuns, seed, examples, endOnFailure: true },
    );
    load.close();
    assert.deepEqual(
      started.logs.filter((line) => /uncaught|RangeError/i.test(line)),
      [],
    );
  } finally {
    await nodeRed?.stop();
    await server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function untilEnded(
  ends: () => Promise<Record<string, End>>,
  sent: ReadonlySet<string>,
): Promise<void> {
  let all = await ends();
  for (const until = performance.now() + 90_000; performance.now() < until; all = await ends()) {
    if ([...sent].every((id) => isOneEnd(id, all[id]))) {
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const wrong = [...sent].filter((id) => !isOneEnd(id, all[id]));
  assert.deepEqual(
    wrong.map((id) => [id, all[id]]),
    [],
    "these did not end exactly once",
  );
}
