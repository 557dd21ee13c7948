import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CloudCalls } from "../../src/cloud/calls.ts";
import { errorFacts } from "../../src/errors/code-facts.ts";
import { DimensionerError, type Outcome, errorCodes } from "../../src/errors/dimensioner-error.ts";
import { type SentenceKey, sentences } from "../../src/errors/sentences.ts";
import type { Call, Command, Peer, Read } from "../../src/http/call.ts";
import { statusFailure } from "../../src/http/failures.ts";
import { writePages } from "../../tools/write-docs/pages.ts";

const docs = join(import.meta.dirname, "../../docs");
const surface = "newer-device";
const peer: Peer = { surface, origin: "http://127.0.0.1:1", host: "127.0.0.1:1" };

describe("the pages and types that are made from the sources", () => {
  it("are as the sources are (npm run write:docs writes them)", async () => {
    for (const [name, page] of await writePages()) {
      assert.equal(await readFile(join(docs, "..", name), "utf8"), page, `${name} is out of date`);
    }
  });

  it("name every code with each of its sentences, and what to do", async () => {
    const page = await readFile(join(docs, "errors.md"), "utf8");
    for (const code of errorCodes) {
      const section = page.split(`\n## ${code}\n`)[1]?.split("\n## ")[0] ?? "";
      const count = Object.values(sentences)
        .filter((one) => one.code === code)
        .flatMap(({ cloud, unknownOutcome }) => [true, cloud, unknownOutcome])
        .filter((wording) => wording !== undefined).length;
      assert.equal(section.match(/^- /gm)?.length, count, code);
      assert.match(section, /\*\*What to do:\*\*/, code);
    }
  });

  it("say of each status what the code says of it, and no outcome that there is not", () => {
    const trigger = new CloudCalls("").trigger("stop", "ABCD2345", {});
    const video: Command = { ...trigger, statuses: { 401: "wrongMode", 403: "wrongMode" } };
    const measure: Command = { ...trigger, statuses: { 404: "notFound" } };
    const savedVideo: Read = { acts: false, operation: "video", method: "GET", path: "/", query: "" };
    const calls: Call[] = [trigger, video, measure, { ...savedVideo, statuses: { 404: "noVideo" } }];
    const seen = new Map<string, Set<Outcome>>();
    for (const call of calls) {
      for (let status = 300; status < 600; status++) {
        const { code, details } = statusFailure(peer, call, status);
        const outcomes = seen.get(code) ?? new Set();
        seen.set(code, outcomes);
        if (details.outcome !== null) {
          outcomes.add(details.outcome);
        }
      }
    }
    for (const [code, outcomes] of seen) {
      const documented = Object.entries(errorFacts).find(([name]) => name === code)?.[1].outcomes ?? [];
      assert.deepEqual([...outcomes].toSorted(), documented.toSorted(), code);
    }
    assert.equal(seen.size, 7);
  });

  it("promise a second try where the code allows it, and nowhere else", async () => {
    const page = await readFile(join(docs, "errors.md"), "utf8");
    const mayTryAgain = (key: SentenceKey, outcome: Outcome | null): boolean =>
      new DimensionerError(key, { surface, operation: "measure", outcome }).details.retryable;
    for (const code of errorCodes) {
      const keys = (Object.keys(sentences) as SentenceKey[]).filter((key) => sentences[key].code === code);
      const { outcomes } = errorFacts[code];
      const row = page.split("\n").find((line) => line.startsWith(`| [${code}]`)) ?? "";
      const said = row.split("|")[3]?.trim() ?? "";
      const all = [null, ...outcomes].flatMap((outcome) => keys.map((key) => mayTryAgain(key, outcome)));
      const commands = outcomes.flatMap((outcome) => keys.map((key) => mayTryAgain(key, outcome)));
      assert.equal(said === "no", !all.includes(true), `${code}: ${said}`);
      assert.equal(said === "yes", !all.includes(false), `${code}: ${said}`);
      assert.equal(
        said.startsWith("reads"),
        all.includes(true) && outcomes.length > 0 && !commands.includes(true),
        `${code}: ${said}`,
      );
    }
  });
});
