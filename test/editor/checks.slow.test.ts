import assert from "node:assert/strict";
import * as fc from "fast-check";
import type { Page } from "playwright-core";
import { readAddress, readBaseUrl } from "../../src/rules/addresses.ts";
import { readNumber } from "../../src/rules/numbers.ts";
import { openEditors, type Editors } from "./open-editors.ts";
import { names } from "./sources.ts";
import { nodeRedMajor } from "../support/node-red.ts";

interface Row {
  readonly type: string;
  readonly property: string;
  readonly value: string;
  /** How the node's other properties are set; the rest is at its default. */
  readonly others?: Readonly<Record<string, string | boolean>>;
  /** Words of the reason; null when the value can be used. */
  readonly reason: RegExp | null;
}

const address = (value: string, reason: RegExp | null): Row => ({
  type: "device",
  property: "address",
  value,
  reason,
});
const baseUrl = (value: string, reason: RegExp | null, allowHttp = false): Row => ({
  type: "cloud",
  property: "baseUrl",
  value,
  reason,
  others: { allowHttp },
});
const number = (property: string, value: string, reason: RegExp | null): Row => ({
  type: "device",
  property,
  value,
  reason,
});
const typed = (value: string, type: string, reason: RegExp | null): Row => ({
  type: "measure",
  property: "customReference1",
  value,
  reason,
  others: { customReference1Type: type },
});
const toFile = (property: string, value: string, type: string, reason: RegExp | null): Row => ({
  type: "fetch-image",
  property,
  value,
  reason,
  others: { output: "file", [`${property}Type`]: type },
});

/** The tag of a measure whose second custom reference holds this. */
const tag = (value: string, customReference2: string, reason: RegExp | null): Row => ({
  type: "measure",
  property: "tag",
  value,
  reason,
  others: { customReference2 },
});

const rows: readonly Row[] = [
  tag("none", "order.line", null),
  tag("customReference2", "", null),
  tag("customReference3", "order.line", null),
  tag("customReference2", "order.line", /already has a value/),
  tag("customReference9", "", /Select one/),
  address("192.168.1.40", null),
  address("dock-3", null),
  address("dock-3.local:8080", null),
  address("[fe80::1]:80", null),
  address("https://dock-3/", null),
  address("${DOCK}", null),
  address("", /IP address or a host name/),
  address("dock 3", /spaces/),
  address("ftp://dock-3", /only http and https/i),
  address("dock-3/api", /no path/),
  address("me@dock-3", /user name/),
  address("dock-3?x=1", /query/),
  address("fe80::1", /brackets/),
  address("192.168.1", /four numbers; this one would mean 192\.168\.0\.1/),
  address("dock-3:0", /not an address/),
  address("dock-3:99999", /not an address/),
  baseUrl("https://cloud.example", null),
  baseUrl("https://cloud.example/base", null),
  baseUrl("http://127.0.0.1:8090", null),
  baseUrl("http://localhost", null),
  baseUrl("http://cloud.example", /https/),
  baseUrl("http://cloud.example", null, true),
  baseUrl("http://127.0.0.1.example", /https/),
  baseUrl("cloud.example", /start with https/),
  baseUrl("https://me:secret@cloud.example", /user name/),
  baseUrl("https://cloud.example?x", /query/),
  baseUrl("", /cloud's address/),
  number("timeout", "", null),
  number("timeout", "2.5", null),
  number("timeout", "${WAIT}", null),
  number("timeout", "0", /more than 0/),
  number("timeout", "soon", /a number/),
  number("maxWait", "0", null),
  number("maxWait", "-1", /from 0 to/),
  number("maxWait", "3000000", /from 0 to/),
  number("queueLimit", "0", null),
  number("queueLimit", "1.5", /whole number/),
  number("generation", "oldest", /from the list/),
  typed("", "str", null),
  typed("", "msg", null),
  typed("a.b[0]", "msg", null),
  typed("a..b", "flow", /position/),
  typed("$sum(a", "jsonata", /expression/),
  typed("payload & 'x'", "jsonata", null),
  typed("REFERENCE", "env", null),
  typed("1", "num", /from the list/),
  toFile("folder", "/data/parcels", "str", null),
  toFile("folder", "", "str", /folder/),
  toFile("folder", "payload", "msg", /from the list/),
  toFile("filename", "", "str", null),
  toFile("filename", "2026/11/parcel.jpg", "str", null),
  toFile("filename", "../parcel.jpg", "str", /out of the folder/),
  toFile("filename", "/etc/parcel.jpg", "str", /relative to the folder/),
  toFile("filename", "C:\\parcel.jpg", "str", /relative to the folder/),
  { type: "fetch-image", property: "folder", value: "", reason: null },
  { type: "fetch-image", property: "imageIdentifier", value: "", reason: /image identifier/ },
  { type: "measure", property: "device", value: "", reason: /Select a device/ },
  { type: "measure", property: "device", value: "", others: { deviceFrom: "dock" }, reason: null },
  { type: "measure", property: "device", value: "gone", reason: /no longer exists/ },
  { type: "measure", property: "device", value: "bad", reason: /is not valid/ },
  { type: "measure", property: "device", value: "good", reason: null },
  { type: "measure", property: "device", value: "old", reason: null },
  { type: "fetch-image", property: "device", value: "good", reason: null },
  { type: "fetch-image", property: "device", value: "old", reason: /newer generation/ },
  { type: "video-control", property: "device", value: "old", reason: /newer generation/ },
  { type: "fetch-video", property: "device", value: "old", reason: /newer generation/ },
  { type: "measure", property: "deviceFrom", value: "a..b", reason: /position/ },
  { type: "media-list", property: "cloud", value: "", reason: /Select a cloud/ },
  { type: "media-list", property: "wait", value: "x", reason: null },
  { type: "media-list", property: "wait", value: "x", others: { expect: "video/mp4" }, reason: /number/ },
  { type: "remote-trigger", property: "deviceReference", value: "ABCD2345", reason: null },
  { type: "remote-trigger", property: "deviceReference", value: "12345678", reason: null },
  { type: "remote-trigger", property: "deviceReference", value: "ABCD-234", reason: /8 letters or digits/ },
  { type: "remote-trigger", property: "transactionReference", value: "", reason: /requires a reference/ },
  {
    type: "remote-trigger",
    property: "transactionReference",
    value: "",
    others: { action: "stop" },
    reason: null,
  },
];

const pieces = fc.constantFrom(
  ...[
    "http",
    "https",
    "ftp",
    "://",
    ":",
    ":0",
    ":80",
    ":99999",
    "/",
    "//",
    "@",
    "?",
    "#",
    "\\",
    " ",
    ".",
  ].concat(
    "[::1] fe80::1 [fe80::1] 192.168.1.40 192.168.1 0x7f.1 127.0.0.1 localhost dock-3 dock_3 ö %41 0 -".split(
      " ",
    ),
    "\u0000",
  ),
);
const addresses = fc.oneof(
  fc.array(pieces, { maxLength: 5 }).map((parts) => parts.join("")),
  fc.webUrl(),
  fc.string(),
);
const numbers = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "0",
    "00",
    "-0",
    "1",
    "1.0",
    "1e3",
    "0x10",
    "2000000",
    "2000001",
    "Infinity",
    "1,5",
  ),
  fc.double().map(String),
  fc.integer().map(String),
  fc.string(),
);

const flows = [
  { id: "tab", type: "tab", label: "Dock" },
  { id: "good", type: "dimensioner-device", name: "Dock 3", address: "127.0.0.1:9" },
  { id: "old", type: "dimensioner-device", name: "Dock 5", address: "127.0.0.1:9", generation: "earlier" },
  { id: "bad", type: "dimensioner-device", name: "Dock 4", address: "" },
  { id: "use", type: "dimensioner-measure", z: "tab", x: 200, y: 80, device: "bad", wires: [[]] },
];

/** Asks the editor as it asks itself: with the node as `this`, and the label for the sentence. */
function ask(page: Page, asked: readonly object[]): Promise<unknown[]> {
  return page.evaluate<unknown[]>(`(${JSON.stringify(asked)}).map(({ type, property, value, others }) => {
    const _def = RED.nodes.getType("dimensioner-" + type);
    const saved = Object.fromEntries(Object.entries(_def.defaults).map(([key, one]) => [key, one.value]));
    const node = { ...saved, ...others, id: "asked", type: "dimensioner-" + type, _def };
    return _def.defaults[property].validate.call(node, value, { label: _def.defaults[property].label });
  })`);
}

describe(`the editor's validation of properties, in Node-RED ${nodeRedMajor}`, () => {
  let editors: Editors;

  before(async () => {
    editors = await openEditors(flows);
  });

  it("accepts valid values, and says in a sentence that begins with the field what is wrong with others", () =>
    editors.run(async ({ page }) => {
      const asked = rows.map(({ type, property, value, others = {} }) => ({ type, property, value, others }));
      const answers = await ask(page, asked);
      rows.forEach(({ reason, ...row }, index) => {
        const what = JSON.stringify(row);
        if (reason === null) {
          assert.equal(answers[index], true, what);
        } else {
          assert.match(String(answers[index]), reason, what);
          assert.match(String(answers[index]), /^[A-Z][^.:]+: [A-Z$]/, what);
        }
      });
    }));

  it("accepts exactly those random addresses and numbers that the runtime accepts (C5)", () =>
    editors.run(async ({ page }) => {
      const asked = [
        ...fc.sample(addresses, 400).flatMap((value) => [
          { type: "device", property: "address", value, fits: "origin" in readAddress(value) },
          { type: "cloud", property: "baseUrl", value, fits: "origin" in readBaseUrl(value, false) },
        ]),
        ...fc.sample(numbers, 200).flatMap((value) =>
          [
            ["device", "timeout", "timeout"] as const,
            ["device", "maxWait", "wait"] as const,
            ["device", "queueLimit", "count"] as const,
            ["archive", "concurrency", "amount"] as const,
            ["archive", "giveUp", "hours"] as const,
          ].map(([type, property, kind]) => {
            return { type, property, value, fits: "value" in readNumber(kind, value) };
          }),
        ),
      ].filter(({ value }) => !/^\$[({]/.test(value));
      const answers = await ask(page, asked);
      asked.forEach(({ fits, ...given }, index) =>
        assert.equal(answers[index] === true, fits, JSON.stringify({ ...given, said: answers[index] })),
      );
      assert.ok(asked.some(({ fits }) => fits) && asked.some(({ fits }) => !fits));
    }));

  it("shows labels and sentences, and no keys of them", () =>
    editors.run(async ({ page }) => {
      const texts = await page.evaluate<string[]>(`${JSON.stringify(names)}.flatMap((name) => {
        const { defaults, credentials = {}, paletteLabel, inputLabels } = RED.nodes.getType("dimensioner-" + name);
        const labels = Object.values({ ...defaults, ...credentials }).map((one) => one.label ?? "");
        return [...labels, paletteLabel(), inputLabels ? inputLabels() : ""];
      })`);
      assert.ok(texts.length > 60);
      assert.deepEqual(
        texts.filter((text) => /[a-z]\.[a-z]/i.test(text)),
        [],
      );
    }));

  it("treats missing properties of flows written by hand as the defaults", () =>
    editors.run(async ({ page }) => {
      const label = await page.evaluate(`RED.utils.getNodeLabel(RED.nodes.node("use"))`);
      assert.equal(label, "measure: Dock 4");
      const errors = await page.evaluate<string[]>(`RED.nodes.node("use").validationErrors`);
      assert.equal(errors.length, 1);
      assert.match(errors[0] ?? "", /^Device: The selected config node is not valid/);
    }));
});
