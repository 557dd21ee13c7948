import assert from "node:assert/strict";
import { exampleNames, readExample } from "../support/examples.ts";

import { defaultWebhooks, webhookReporter } from "../../src/cli/simulator.ts";

const [transaction, operatorScans] = defaultWebhooks;

/** What is printed after each of these answers; null stands for none. */
function printed(posts: readonly (readonly [url: string, statusCode: number | null])[]): string[] {
  const lines: string[] = [];
  const report = webhookReporter(defaultWebhooks, (line) => lines.push(line));
  posts.forEach(([url, statusCode], index) =>
    report({ url, statusCode, transactionId: String(index), at: new Date(), error: null }),
  );
  return lines;
}

describe("simulator: what the command line says of the webhook", () => {
  it("posts to the path of each example with a webhook, so that these work as they are imported", async () => {
    const flows = await Promise.all((await exampleNames()).map(readExample));
    const paths = flows.flat().flatMap((node) => {
      const { type, path } = node as { type: string; path?: string };
      return type === "dimensioner-transaction-in" ? [`http://127.0.0.1:1880/${path}`] : [];
    });
    assert.deepEqual([...new Set(paths)].toSorted(), defaultWebhooks.toSorted());
  });

  it("says nothing where one of the server's addresses takes the records, in whichever order they answer", () => {
    assert.deepEqual(
      printed([
        [operatorScans, 404],
        [transaction, 204],
        [operatorScans, 404],
        [transaction, 204],
      ]),
      [],
    );
  });

  it("says once what is wrong, and again when something else is", () => {
    const lines = printed([
      [transaction, null],
      [operatorScans, null],
      [transaction, null],
      [operatorScans, null],
      [transaction, 404],
      [operatorScans, 404],
      [transaction, 404],
      [operatorScans, 401],
      [transaction, 200],
      [operatorScans, 401],
      [transaction, null],
      [operatorScans, null],
    ]);
    assert.deepEqual(
      lines.map(
        (line) =>
          /does not respond|no flow at .* accepts|status 404 and 401|now accepts the records/.exec(line)?.[0],
      ),
      [
        "does not respond",
        "no flow at http://127.0.0.1:1880 accepts",
        "status 404 and 401",
        "now accepts the records",
        "does not respond",
      ],
    );
  });
});
