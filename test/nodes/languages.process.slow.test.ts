import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ErrorDetails, errorCodes } from "../../src/errors/dimensioner-error.ts";
import { fields, phrases } from "../../src/errors/phrases.ts";
import { sentences } from "../../src/errors/sentences.ts";
import { type Simulator, startSimulator } from "../../src/simulator/index.ts";
import { catalogOf } from "../editor/sources.ts";
import { untilSent } from "../matrix/short-deadlines.ts";
import { type NodeRed, nodeRedMajor, startNodeRed } from "../support/node-red.ts";
import { storeNode } from "../support/store-node.ts";
import { type FailingCase, configNodes, deviceCode, failingCases, token } from "./failing-cases.ts";

interface Caught {
  readonly code: string;
  readonly message: string;
  readonly cause: ErrorDetails;
}

/** The words of a text; names that are the same in every language have capitals inside. */
const wordsOf = (text: string): string[] =>
  (text.replace(/__\w+?__/g, " ").match(/[a-z]{2,}/gi) ?? []).map((word) => word.toLowerCase());

/** Words that our English texts and the names of our properties have, and the language's own texts do not. */
async function englishWords(language: string): Promise<Set<string>> {
  const english = [
    ...Object.values(sentences).flatMap(({ text, hint }) => [text, hint]),
    ...Object.values(phrases),
    ...fields,
  ];
  const own = new Set([...(await catalogOf("device", language)).values()].flatMap(wordsOf));
  return new Set(english.flatMap(wordsOf).filter((word) => !own.has(word)));
}

/** A path, an address, a property, the names of pictures and units and a token of a layout are what they are in any language. */
const withoutPlaces = (text: string): string =>
  text
    .replaceAll("https://", "")
    .replace(/\S*\/\S+/g, "")
    .replace(/127\.0\.0\.1\S*|\b(?:\w+, )+(?:depth|in|lb|msg)\b|\bmsg(?:\.\w+)+|\{\w*\}/g, "");

/** Nothing listens there: a port that was free a moment ago may have been given to another test. */
const closedPort = 1;

describe(`C5: the errors of flows, in a Node-RED ${nodeRedMajor} of another language`, () => {
  let folder: string;
  let sim: Simulator;
  let nodeRed: NodeRed;
  let cases: FailingCase[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "languages-"));
    const file = join(folder, "1");
    await writeFile(file, "1");
    cases = failingCases(folder, file);
    sim = await startSimulator({ token, deviceCode, mode: "video-only", unknownTransaction: "empty-list" });
  });
  after(async () => {
    await sim.close();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(() => nodeRed?.stop());

  /** One flow for each case: a post goes in as the message, and the error comes out as the answer. */
  async function start(language: string): Promise<void> {
    const at = { x: 100, y: 100 };
    const answer = "msg.payload = { ...msg.error, cause: msg.error.cause }; return msg;";
    const flows = cases.flatMap(({ type, properties }, index) => {
      const [tab, id] = [`tab-${index}`, (name: string) => `${name}-${index}`];
      const node = (name: string, more: object, next?: string) => ({
        id: id(name),
        z: tab,
        ...at,
        ...more,
        wires: next === undefined ? [] : [[id(next)]],
      });
      return [
        { id: tab, type: "tab", label: tab },
        node("in", { type: "http in", url: `/case/${index}`, method: "post" }, "take"),
        node("take", { type: "function", func: "return Object.assign(msg, msg.payload);" }, "node"),
        node("node", { type, ...properties }, "out"),
        node("catch", { type: "catch", scope: null }, "say"),
        node("say", { type: "function", func: answer }, "out"),
        node("out", { type: "http response" }),
      ];
    });
    nodeRed = await startNodeRed({
      major: nodeRedMajor,
      settings: { lang: language },
      flows: [...configNodes(sim, closedPort), storeNode(folder, "store"), ...flows],
    });
  }

  async function provoke(index: number): Promise<Caught> {
    const { fault, message = {} } = cases[index] ?? assert.fail();
    sim.faults.clear();
    if (fault !== undefined) {
      // A read is repeated where that can help.
      sim.faults.add({ times: 0, fault });
    }
    const response = await nodeRed.adminFetch(`/case/${index}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ payload: null, ...message }),
    });
    return (await response.json()) as Caught;
  }

  for (const [setting, language] of [
    ["de-AT", "de"],
    ["ja", "ja"],
    ["es", "es"],
    ["pt-BR", "pt"],
    ["zh", "zh"],
    ["zh-TW", "zh-TW"],
  ] as const) {
    it(`${setting}: says each of them with no word of ours in English`, async () => {
      await start(setting);
      const english = await englishWords(language);
      for (const [index, { code }] of cases.entries()) {
        const codeOf = async (running: Promise<Caught>) => (await running).code;
        const caught = await untilSent({ code }, () => provoke(index), codeOf);
        const said = `${caught.message} ${caught.cause.hint}`;
        assert.equal(caught.code, code, `case ${index}: ${said}`);
        assert.doesNotMatch(said, /__\w+__|undefined|\[object/);
        assert.deepEqual(
          wordsOf(withoutPlaces(said)).filter((word) => english.has(word)),
          [],
          said,
        );
      }
    });
  }

  it("there is a case for each error code but those of a message that waits and of the store", () => {
    // The tests of the store provoke the one of its database.
    const waiting = ["ERR_QUEUE_FULL", "ERR_EXPIRED", "ERR_CANCELLED", "ERR_STORE"];
    const provoked = new Set(failingCases("", "").map(({ code }) => code));
    assert.deepEqual(errorCodes.filter((code) => !provoked.has(code)).toSorted(), waiting.toSorted());
  });
});
