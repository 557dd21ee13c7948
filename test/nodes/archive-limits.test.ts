import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { pictureOf, readPackages } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import type { Message } from "../support/flow.ts";
import { archive, ArchiveSuite } from "./archive-suite.ts";

const longest = 10_000;
const longestExpected = 2_000;

/** A message for a package without a cloud, with this text in some place. */
type Place = readonly [name: string, message: (text: string) => Message];

const billable = {
  weight: 1,
  unit: "kg",
  basis: "actual",
  explanation: "",
  ruleId: "own",
  legalForTrade: "unknown",
  computed: true,
};

const places: readonly Place[] = [
  ["transactionId", (text) => ({ transactionId: text })],
  ["contentType", (text) => ({ filter: text })],
  ["parts.id", (text) => ({ parts: { id: text, index: 0, count: 1 } })],
  ["references.transactionReference", (text) => ({ transactionReference: text })],
  ["references.customReference3", (text) => ({ customReference3: text })],
  ["references.barcodeReference", (text) => ({ barcodeReference: text })],
  ["device", (text) => ({ device: text })],
  ["instrument.certificate", (text) => ({ measuredBy: { certificate: text } })],
  ["deviceLocalTime", (text) => ({ measurement: { measuredObjects: [], dateTimeLocal: text } })],
  ["billable.ruleDate", (text) => ({ billable: { ...billable, ruleDate: text } })],
  ["scan.symbology", (text) => ({ scan: { text: "1", symbology: text, sscc: null } })],
  ["scan.sscc", (text) => ({ scan: { text: "1", symbology: null, sscc: text } })],
  ["recording.at", (text) => ({ video: { action: "start", transactionReference: "1", at: text } })],
  [
    "recordedBy.name",
    (text) => ({ measuredBy: {}, video: { action: "stop", device: { id: "1", name: text } } }),
  ],
  [
    "measuredBy.name",
    (text) => ({ measuredBy: { id: "device", name: text, surface: "newer-device" }, imageIdentifier: "1" }),
  ],
  [
    "video.videoAt",
    (text) => ({ video: { action: "stop", recording: "own", device: { id: "device" }, at: text } }),
  ],
  ["items.0.description", (text) => ({ description: text })],
];

describe("dimensioner-archive, and texts that are too long for a manifest", () => {
  const suite = new ArchiveSuite();

  async function start(root: string, more: Record<string, unknown> = {}) {
    return suite.start(
      root,
      { id: "device", type: "dimensioner-device", name: "Dock 4", address: suite.sim.newer.origin },
      archive(root, { cloud: "", contentType: "filter", contentTypeType: "msg", wait: 0, ...more }),
    );
  }
  const brought = (): Message => ({ transactionId: "1", payload: pictureOf("1") });

  it("refuses a message with one, before anything is stored", async () => {
    await withFolder(async (root) => {
      const test = await start(root);
      for (const [name, message] of places) {
        const long = message("x".repeat(longest + 1));
        const { error } = await test.run("node", { ...brought(), ...long });
        assert.equal(error?.code, "ERR_INPUT", name);
        const said = ` is not valid for ${name}: it is longer than ${longest} characters. Nothing was sent.`;
        assert.ok(error.message.includes(said), `${name}: ${error.message}`);
      }
      assert.deepEqual(await readdir(root), []);
    });
  });

  it("refuses a list of expected media that is too long", async () => {
    await withFolder(async (root) => {
      const test = await start(root, { media: "list", expect: "expect", expectType: "msg" });
      const { error } = await test.run("node", {
        ...brought(),
        expect: "x,".repeat(longestExpected / 2) + "x",
      });
      assert.equal(error?.code, "ERR_INPUT");
      assert.match(error.message, /^“x,x,.*” is not valid for .*: it is longer than 2000 characters\./);
      assert.deepEqual(await readdir(root), []);
    });
  });

  it("makes a package whose manifest can be read if all of them are as long as they may be", async () => {
    await withFolder(async (root) => {
      // JSON needs six characters for each of these; at its ends, a reference has none.
      const text = `x${"\u0001".repeat(longest - 2)}x`;
      const test = await start(root, {
        media: "list",
        expect: "expect",
        expectType: "msg",
        onIncomplete: "keep",
      });
      const { parts: _parts, ...message } = Object.assign(
        {},
        ...places.map(([, make]) => make(text)),
      ) as Message;
      const expect = "\u0001,".repeat(longestExpected / 2);
      const { error } = await test.run("node", { ...brought(), ...message, imageIdentifier: "1", expect });
      assert.equal(error, undefined);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.equal(manifest?.references.transactionReference, text);
      assert.equal(manifest.expected?.expect.length, longestExpected / 2);
    });
  });
});
