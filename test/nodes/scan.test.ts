import assert from "node:assert/strict";
import { inspect } from "node:util";
import type { Scan } from "../../src/model/shapes.ts";
import { RecentScans } from "../../src/runtime/scan/scan-settings.ts";
import { type End, type Sent, TestFlow } from "../support/flow.ts";

const sscc = "123456789012345675";
const label = `]C100${sscc}3302001250\r\n`;
const whole = { framing: "message", dedupe: 0 } as const;

describe("dimensioner-scan", () => {
  let flow: TestFlow;
  const start = async (properties: object = {}): Promise<void> => {
    flow = await TestFlow.start([{ id: "node", z: "tab", type: "dimensioner-scan", ...properties }]);
  };
  afterEach(() => flow.stop());

  const scan = async (payload: unknown, more: object = {}) => {
    const { error, sent } = await flow.run("node", { payload, ...more });
    return { error, sent, references: referencesIn(sent) };
  };
  const referencesIn = (sent: readonly Sent[]) =>
    sent.map(({ port, msg }) => (port === 0 ? msg["transactionReference"] : msg["control"]));

  it("sends a parcel with its reference and how it was read, and leaves the rest of the message", async () => {
    await start();
    const { sent, error } = await flow.run("node", { payload: label, topic: "dock 4", order: { lines: 2 } });
    assert.equal(error, undefined);
    const [{ port, msg } = assert.fail()] = sent;
    const read = msg["scan"] as Scan;
    assert.equal(port, 0);
    assert.equal(msg["payload"], label);
    assert.equal(msg["transactionReference"], sscc);
    assert.deepEqual([read.sscc, read.labelWeight?.weight, read.duplicate], [sscc, 12.5, false]);
    assert.deepEqual([msg["topic"], msg["order"]], ["dock 4", { lines: 2 }]);
    assert.equal(flow.lastStatus("node")?.text, sscc);
    assert.equal(flow.lastStatus("node")?.fill, "green");
  });

  it("takes a scan as the core nodes and a page bring it", async () => {
    await start({ gap: 20, dedupe: 0 });
    const bytes = Buffer.from(label);
    const tcp = { _session: { type: "tcp", id: "1" }, ip: "10.0.0.7", port: 5001, topic: "" };
    for (const [node, msg] of Object.entries({
      "mqtt in, a string": { payload: label.trim(), topic: "dock/4/scan", qos: 1, retain: false },
      "mqtt in, a Buffer": {
        payload: Buffer.from(label.trim()),
        topic: "dock/4/scan",
        qos: 1,
        retain: false,
      },
      "http in, a text": { payload: label.trim(), req: { headers: {} }, res: {} },
      "tcp in, a stream of Buffers": { payload: bytes, ...tcp },
      "tcp in, a stream of strings": { payload: label.trim(), ...tcp },
      "serial in, divided": { payload: label.trimEnd(), port: "/dev/ttyUSB0" },
      "serial in, a Buffer": { payload: bytes, port: "/dev/ttyUSB0" },
      "udp in": { payload: bytes, fromip: "10.0.0.7:5001", ip: "10.0.0.7", port: 5001 },
      "a page that takes keystrokes": { payload: `${label.trim()}\t`, _client: { socketId: "s" } },
    })) {
      const { error, sent } = await flow.run("node", msg);
      assert.equal(error, undefined, `${node}: ${error?.message}`);
      assert.deepEqual(referencesIn(sent), [sscc], node);
    }
    const parsed = await scan({ barcode: label });
    assert.equal(parsed.error?.code, "ERR_INPUT");
    assert.match(parsed.error?.message ?? "", /msg\.payload/);
  });

  it("sends control codes to the second output, as the dialog writes them", async () => {
    await start({ controls: "VIDEO_START, VIDEO_RESET, no-read" });
    for (const [payload, control] of [
      ["VIDEO_START\r", "VIDEO_START"],
      ["]C0video_reset", "VIDEO_RESET"],
      ["NO-READ\t", "no-read"],
    ]) {
      const { sent, references } = await scan(payload);
      assert.deepEqual(references, [control]);
      assert.equal(sent[0]?.port, 1);
      assert.equal(sent[0]?.msg["payload"], payload);
      assert.equal("scan" in (sent[0]?.msg ?? {}), false);
    }
  });

  it("sends what identifies no parcel to the second output as NO_READ, and says so in its status", async () => {
    await start({ dedupe: 0 });
    for (const payload of [
      "NoRead\r\n",
      "NO READ",
      "]C0noread",
      "NR\t",
      "ERROR\r",
      "?",
      "????\r\n",
      "No Read d_1, E_2",
      "NOREAD NOREAD\r",
      "error 01",
      // With brackets, several times, as several readers send it, and with the reader and the time in front.
      "<NR>",
      "NR;NR",
      "NR|NR|NR|NR",
      "NOREADNOREAD",
      "ＮｏＲｅａｄ",
      "? ; ?",
      "****",
      "00000000",
      "10:57:35 NOREAD",
      "2026-11-29 10:57:35;NR",
      "SCANNER1: NoRead",
      '{"code":"NoRead"}',
      "BARCODE NOT READ",
      "no code!",
      // The codes by which scanners of Newland and Cognex are set, printed in their manuals.
      "@SETUPE1",
      "]C0@UPAAD50",
      "||>SET OUTPUT.ACTION 3 1",
      "",
      "\r\n",
      "\x02\x03",
      "]C1\r",
    ]) {
      const { sent, error } = await scan(payload);
      assert.equal(error, undefined, payload);
      const [{ port, msg } = assert.fail()] = sent;
      assert.deepEqual([port, msg["control"], msg["payload"]], [1, "NO_READ", payload]);
      assert.equal("transactionReference" in msg || "scan" in msg, false, payload);
      assert.equal(flow.lastStatus("node")?.text, "nothing was read");
      assert.equal(flow.lastStatus("node")?.fill, "yellow");
    }
    const stream = await scan(Buffer.from("\x02\x03ORDER-1\r\nNoRead\r\n"));
    assert.deepEqual(stream.references, ["NO_READ", "ORDER-1", "NO_READ"]);
  });

  it("takes a code that names only a place for none of a parcel", async () => {
    await start({ dedupe: 0 });
    // The ZIP code's barcode of UPS and USPS (GS1-128, AI 420, alone), with and without what scanners send in front.
    for (const place of [
      "]C142030301",
      "]C1420303011234",
      "\x1d42030301",
      "42030301",
      "420 30301",
      "420 30301-1234",
      "(420) 30301",
      "]C1421840A1A1A1",
      "]C14144012345000009",
      "]C14144012345000009254A",
      "https://example.com/414/4012345000009/254/A",
      "https://example.com/414/4012345000009",
      // The code by which DHL Express routes a parcel.
      "]C02LUS12345+45001001",
      "2LDE53113+48000000",
    ]) {
      assert.deepEqual((await scan(place)).references, ["NO_READ"], place);
    }
    for (const [parcel, reference] of [
      ["]C142030301\x1d9261290283641500004181", "9261290283641500004181"],
      ["]C14144012345000009\x1d254A\x1d00123456789012345675", sscc],
      ["]C042030301", "42030301"],
      ["42030301-7", "42030301-7"],
      ["420303017", "420303017"],
      ["2LDE53113", "2LDE53113"],
      ["NR 4711", "NR 4711"],
      ["ERRORS-4711", "ERRORS-4711"],
      ["NR0001", "NR0001"],
      ["TERROR-1", "TERROR-1"],
      ["0010", "0010"],
      ["10:57:35", "10:57:35"],
      ["@company", "@company"],
      ["https://example.com/error/1", "https://example.com/error/1"],
      [`https://example.com/00/${sscc}?state=NoRead`, sscc],
    ]) {
      assert.deepEqual((await scan(parcel)).references, [reference], parcel);
    }
  });

  it("takes what the dialog says for no parcel, and nothing else", async () => {
    await start({ noReads: "BAD, 10:30, (400)", dedupe: 0 });
    assert.deepEqual((await scan("bad\r")).references, ["NO_READ"]);
    assert.deepEqual((await scan("]C1400A")).references, ["NO_READ"]);
    assert.deepEqual((await scan("NoRead")).references, ["NoRead"]);
    assert.deepEqual((await scan("42030301")).references, ["42030301"]);
    for (const text of ["2LUS12345+45001001", "@SETUPE1", "****", "00000000", "10:30"]) {
      assert.deepEqual((await scan(text)).references, [text]);
    }
    assert.equal((await scan("")).error?.code, "ERR_INPUT");
    await flow.stop();
    await start({ noReads: "", dedupe: 0 });
    assert.deepEqual((await scan("]C142030301")).references, ["42030301"]);
    await flow.stop();
    await start({ which: "ai", ai: "420", dedupe: 0 });
    assert.deepEqual((await scan("]C142030301")).references, ["30301"]);
  });

  it("drops what comes again within the time, also from a scanner that goes on reading, and counts it", async () => {
    await start({ dedupe: 60_000 });
    assert.deepEqual((await scan(label)).references, [sscc]);
    for (let time = 1; time <= 3; time++) {
      const { error, sent } = await scan(label.trim());
      assert.deepEqual([error, sent], [undefined, []]);
      assert.equal(flow.lastStatus("node")?.text, `duplicates dropped: ${time}`);
    }
    assert.deepEqual((await scan(label, { topic: "another scanner" })).references, [sscc]);
    assert.deepEqual((await scan("ORDER-1\rORDER-1\rVIDEO_START\rVIDEO_START")).references, [
      "ORDER-1",
      "VIDEO_START",
    ]);
  });

  it("sends every scan where duplicates are not dropped", async () => {
    await start(whole);
    assert.deepEqual((await scan("A\rA\rA")).references, ["A", "A", "A"]);
  });

  it("remembers nothing of a message that has ended in an error", async () => {
    await start();
    assert.equal((await scan("ORDER-1\r]E04006381333932")).error?.code, "ERR_INPUT");
    assert.deepEqual((await scan("ORDER-1")).references, ["ORDER-1"]);
  });

  it("sends several scans of one message in their order, control codes among them", async () => {
    await start();
    const { sent, error } = await scan("VIDEO_START\r\nORDER-1\r\nVIDEO_RESET\r\nORDER-2\r\n", {
      topic: "t",
    });
    assert.equal(error, undefined);
    assert.deepEqual(referencesIn(sent), ["VIDEO_START", "ORDER-1", "VIDEO_RESET", "ORDER-2"]);
    assert.deepEqual(
      sent.map(({ msg }) => msg["payload"]),
      ["VIDEO_START\r\n", "ORDER-1\r\n", "VIDEO_RESET\r\n", "ORDER-2\r\n"],
    );
    assert.equal(flow.ends.length, 1);
  });

  it("gives the number that the carrier prints, with the whole text in scan.text", async () => {
    await start({ dedupe: 0 });
    const text = "1001921334250001000300779017972697";
    const [{ msg } = assert.fail()] = (await scan(`]C0${text}\r\n`)).sent;
    const read = msg["scan"] as Scan;
    assert.deepEqual(
      [msg["transactionReference"], read.number, read.text],
      ["779017972697", "779017972697", text],
    );
  });

  it("sends a carrier's 2D label with its tracking number, and with the addressee only if the dialog says so", async () => {
    // The layout of UPS's MaxiCode in Zebra's ZPL programming guide (^BD); test/scan/envelope.test.ts names the sources.
    const fields = ["96450660000", "840", "003", "1Z57567127", "UPSN", "5R8939", "070", "", "1/1", "15", "Y"];
    const maxiCode = `[)>\x1e01\x1d${fields.join("\x1d")}\x1d12 EXAMPLE STREET\x1dSAMPLEVILLE\x1dOH\x1e\x04\r`;
    for (const addressee of [false, true]) {
      await start({ addressee });
      const { references, sent } = await scan(Buffer.from(`]U1${maxiCode}`));
      assert.deepEqual(references, ["1Z5R89390357567127"]);
      const everything = inspect(sent[0]?.msg, { depth: 9 });
      assert.equal(everything.includes("EXAMPLE STREET"), addressee);
      assert.equal(everything.includes("45066"), addressee);
      await flow.stop();
    }
    await start();
  });

  it("refuses no number for a check digit that fits by chance", async () => {
    await start({ symbologies: "gs1,digitalLink,other", dedupe: 0 });
    // Both FedEx's check digit and that of UPC; an order number with that of GTIN-14; one that begins like an SSCC.
    for (const number of ["201298452277", "477179081230", "15400141288763", "00123456789012345675"]) {
      assert.equal((await scan(number)).error, undefined, number);
    }
    assert.equal(
      (await scan("]E04006381333931")).error?.code,
      "ERR_INPUT",
      "the scanner says that it is an EAN",
    );
  });

  describe("the reference", () => {
    const cases: readonly (readonly [title: string, properties: object, scan: string, reference: string])[] =
      [
        ["the SSCC first", {}, `]C10109506000134352400ORDER\x1d00${sscc}`, sscc],
        [
          "a tracking number in an internal element",
          {},
          "]C142002334\x1d9200190132607600833457",
          "9200190132607600833457",
        ],
        ["the order number before the article", {}, "]C10109506000134352400ORDER-7", "ORDER-7"],
        ["the article where there is nothing better", {}, "]C1010950600013435210LOT", "09506000134352"],
        ["a GS1 code without any of them as a whole", {}, "]C110LOT\x1d21SERIAL", "10LOT21SERIAL"],
        ["a GS1 Digital Link", {}, "https://example.com/00/123456789012345675", sscc],
        ["an article as it was scanned", {}, "4006381333931", "4006381333931"],
        ["text as a whole", {}, " ORDER 4711 \r\n", "ORDER 4711"],
        ["an element", { which: "ai", ai: "21" }, "]C110LOT\x1d21SERIAL", "SERIAL"],
        ["the GTIN of an EAN", { which: "ai", ai: "01" }, "4006381333931", "04006381333931"],
        ["a group", { which: "pattern", pattern: "ORDER-(\\d+)" }, "xORDER-0815y", "0815"],
        [
          "a group before a separator",
          { which: "pattern", pattern: "10(\\w+)\\x1d" },
          "]C110LOT\x1d21S",
          "LOT",
        ],
        ["all of it", { which: "text" }, `(00)${sscc}`, `(00)${sscc}`],
      ];
    for (const [title, properties, given, reference] of cases) {
      it(`is ${title}`, async () => {
        await start(properties);
        assert.deepEqual((await scan(given)).references, [reference]);
      });
    }

    it("is an error where the code does not have it", async () => {
      await start({ which: "ai", ai: "00" });
      const { error, sent } = await scan("ORDER-1");
      assert.deepEqual(sent, []);
      assert.equal(error?.code, "ERR_INPUT");
      assert.equal(
        error?.message,
        "The code “ORDER-1” does not contain the required reference. Scan the label of the parcel.",
      );
    });

    it("is never one with a wrong check digit, unless the dialog says so", async () => {
      const bad = `]C100${sscc.slice(0, -1)}00109506000134352`;
      await start();
      const { error } = await scan(bad);
      assert.equal(error?.code, "ERR_INPUT");
      assert.match(
        error?.message ?? "",
        /is damaged: the check digit of SSCC \(00\) is wrong\. Scan the label again\.$/,
      );
      assert.equal((await scan("]E04006381333932")).error?.code, "ERR_INPUT");
      await flow.stop();
      await start({ invalid: "send" });
      assert.deepEqual((await scan(bad)).references, [`${sscc.slice(0, -1)}0`]);
    });

    it("is an error that names the scanner's setting, where the scanner drops the separators", async () => {
      await start({ dedupe: 0 });
      // The last one is not too long: a count of 5, and a lot. Its letters are in none of a count.
      const orders = [`]C1400PO471100${sscc}`, `]C180044012345A00${sscc}`, `]C1240AB00${sscc}`];
      for (const lost of [`]C110LOT00${sscc}`, `]C137500${sscc}`, "]C137510LOT", ...orders]) {
        const { error, sent } = await scan(lost);
        assert.deepEqual([error?.code, sent], ["ERR_INPUT", []]);
        assert.equal(
          error?.message,
          `The scanner drops the separators of the code “${lost.slice(3)}”, so its elements cannot be told apart. ` +
            "Set the scanner to send FNC1 as GS (character 29).",
        );
      }
      for (const [kept, reference] of [
        [`]C1400PO4711\x1d00${sscc}`, sscc],
        [`]C1400PO471100${sscc.slice(0, -1)}6`, `PO471100${sscc.slice(0, -1)}6`],
        [`]C191AB00${sscc}`, `91AB00${sscc}`],
        [`]C140000${sscc}`, `00${sscc}`],
      ] as const) {
        assert.deepEqual((await scan(kept)).references, [reference], kept);
      }
      // What is right in it is used all the same.
      assert.deepEqual((await scan(`]C100${sscc}10LOT37123456789012345678`)).references, [sscc]);
      await flow.stop();
      await start({ invalid: "send" });
      assert.deepEqual((await scan(`]C110LOT00${sscc}`)).references, [`10LOT00${sscc}`]);
    });

    it("does not depend on elements that it does not come from", async () => {
      await start();
      assert.deepEqual((await scan(`]C100${sscc}17999999`)).references, [sscc]);
    });
  });

  it("accepts only the codes that the dialog has chosen", async () => {
    await start({ symbologies: "gs1" });
    const { error } = await scan("4006381333931");
    assert.equal(error?.code, "ERR_INPUT");
    assert.equal(
      error?.message,
      "“4006381333931” is a product barcode, which is not accepted here. Scan the label of the parcel.",
    );
    assert.deepEqual((await scan(label)).references, [sscc]);
    assert.deepEqual(
      (await scan("VIDEO_START")).references,
      ["VIDEO_START"],
      "a control code is always accepted",
    );
  });

  it("fails with ERR_INPUT for what is no scan, and changes nothing in the message", async () => {
    await start();
    for (const payload of [Buffer.alloc(0), 4711, null, undefined, { text: "A" }, "x".repeat(9_000)]) {
      const msg = { payload, topic: "t" };
      const { error, sent } = await flow.run("node", msg);
      assert.deepEqual([error?.code, sent], ["ERR_INPUT", []], inspect(payload));
      assert.deepEqual(
        [msg.payload, msg.topic, Object.keys(msg)],
        [payload, "t", ["payload", "topic", "_msgid"]],
      );
      assert.equal(error?.cause.outcome, null);
    }
    assert.equal(flow.lastStatus("node")?.text, "check the message");
  });

  for (const [title, properties, field] of [
    ["a regular expression without a group", { which: "pattern", pattern: "ORDER" }, "pattern"],
    ["a regular expression with look-around", { which: "pattern", pattern: "(?<=A)(B)" }, "pattern"],
    ["a blank regular expression", { which: "pattern" }, "pattern"],
    ["an application identifier that is none", { which: "ai", ai: "SSCC" }, "ai"],
    ["a kind of code that there is not", { symbologies: "gs1,pdf" }, "symbologies"],
    ["no kind of code", { symbologies: "" }, "symbologies"],
    ["a way to take messages that there is not", { framing: "line" }, "framing"],
    ["a time below 0", { dedupe: -1 }, "dedupe"],
  ] as const) {
    it(`says at deploy that it has ${title}, and fails every message with ERR_CONFIG`, async () => {
      await start(properties);
      assert.equal(flow.lastStatus("node")?.text, "check the settings");
      const { error } = await scan(label);
      assert.equal(error?.code, "ERR_CONFIG");
      assert.ok(error?.message.includes(`“${field}”`), error?.message);
    });
  }

  describe("scans in a stream", () => {
    const tcp = { _session: { type: "tcp", id: "1" }, ip: "10.0.0.7", port: 5001 };

    it("puts together what arrives in parts, and ends each message once", async () => {
      await start({ gap: 60_000 });
      const bytes = Buffer.from(`${label}Ä-1\r`);
      const ends: Promise<End>[] = [];
      for (let at = 0; at < bytes.length; at += 7) {
        ends.push(flow.start("node", { payload: bytes.subarray(at, at + 7), ...tcp }));
      }
      const all = await Promise.all(ends);
      assert.deepEqual(
        all.map(({ error }) => error),
        all.map(() => undefined),
      );
      assert.deepEqual(referencesIn(flow.sent), [sscc, "Ä-1"]);
      assert.deepEqual(
        flow.sent.map(({ msg }) => msg["payload"]),
        [label, "Ä-1\r"],
      );
      assert.equal(flow.ends.length, all.length);
    });

    it("sends scans in their order, however they were divided", async () => {
      const codes = ["VIDEO-1", "ORDER-1", "ORDER-2", "ORDER-3"];
      const bytes = Buffer.from(codes.map((code) => `${code}\r`).join(""));
      for (let length = 1; length <= bytes.length; length++) {
        await start({ gap: 60_000 });
        const parts = Array.from({ length: Math.ceil(bytes.length / length) }, (_, part) =>
          bytes.subarray(part * length, (part + 1) * length),
        );
        await Promise.all(parts.map((payload) => flow.start("node", { payload, ...tcp })));
        assert.deepEqual(referencesIn(flow.sent), codes, `${length} bytes at a time`);
        await flow.stop();
      }
      await start();
    });

    it("keeps sources apart, and takes over only from the same one", async () => {
      await start({ gap: 60_000 });
      const one = flow.start("node", { payload: Buffer.from("ORDER-"), ...tcp });
      const other = flow.start("node", {
        payload: Buffer.from("PACK-"),
        ...tcp,
        _session: { type: "tcp", id: "2" },
      });
      await flow.run("node", { payload: Buffer.from("1\r"), ...tcp });
      await flow.run("node", { payload: Buffer.from("2\r"), ...tcp, _session: { type: "tcp", id: "2" } });
      await Promise.all([one, other]);
      assert.deepEqual(referencesIn(flow.sent), ["ORDER-1", "PACK-2"]);
    });

    it("takes what is there for a scan after the longest pause", async () => {
      await start({ gap: 20 });
      const { sent, references } = await scan(Buffer.from("ORDER-1"));
      assert.deepEqual(references, ["ORDER-1"]);
      assert.equal(sent[0]?.msg["payload"], "ORDER-1");
    });

    it("takes the lines of a payment for one scan, which is no parcel", async () => {
      await start({ gap: 20 });
      const payment =
        "BCD\n002\n1\nSCT\n\nAlex Secret\nDE89370400440532013000\nEUR12.3\n\n\nInvoice 4711\r\n";
      for (const payload of [payment, Buffer.from(payment)]) {
        const { error, sent } = await scan(payload);
        assert.deepEqual([error?.code, sent], ["ERR_INPUT", []]);
        assert.equal(
          error?.message,
          "The code “BCD…” does not contain the required reference. Scan the label of the parcel.",
        );
      }
    });

    it("says that the end is missing where STX began it", async () => {
      await start({ gap: 20 });
      const { error } = await scan(Buffer.from("\x02ORDER-1"));
      assert.equal(error?.code, "ERR_INPUT");
      assert.equal(error?.message, "The end of the scan “ORDER-1” is missing. Scan the label again.");
    });

    it("passes over the second half of an end that is divided", async () => {
      await start({ gap: 60_000 });
      assert.deepEqual((await scan(Buffer.from("ORDER-1\r"))).references, ["ORDER-1"]);
      const { error, sent } = await scan(Buffer.from("\n"));
      assert.deepEqual([error, sent], [undefined, []]);
      assert.deepEqual((await scan(Buffer.from("ORDER-2\r"))).references, ["ORDER-2"]);
    });

    it("drops a scan that is too long up to its end, and goes on with the next", async () => {
      await start({ gap: 60_000 });
      const first = flow.start("node", { payload: Buffer.alloc(8_000, "x"), ...tcp });
      const { error } = await scan(Buffer.alloc(8_000, "x"), tcp);
      assert.equal(error?.code, "ERR_INPUT");
      assert.equal((await first).error, undefined);
      assert.deepEqual((await scan(Buffer.from("xxxx"), tcp)).sent, []);
      assert.deepEqual((await scan(Buffer.from("x\rORDER-1\r"), tcp)).references, ["ORDER-1"]);
    });

    it("ends what waits at a reset with ERR_CANCELLED", async () => {
      await start({ gap: 60_000 });
      const waiting = flow.start("node", { payload: Buffer.from("ORDER-"), ...tcp });
      await flow.run("node", { reset: true });
      assert.equal((await waiting).error?.code, "ERR_CANCELLED");
      assert.deepEqual((await scan(Buffer.from("1\r"), tcp)).references, ["1"], "nothing is left of it");
    });

    it("ends what waits at a deploy with ERR_CANCELLED, and sends nothing of it", async () => {
      await start({ gap: 60_000 });
      const waiting = flow.start("node", { payload: Buffer.from("ORDER-"), ...tcp });
      await flow.untilStatus("node", ({ text }) => text === "receiving a scan");
      await flow.deploy([{ id: "node", z: "tab", type: "dimensioner-scan" }]);
      assert.equal((await waiting).error?.code, "ERR_CANCELLED");
      assert.deepEqual(flow.sent, []);
      assert.deepEqual((await scan(Buffer.from("1\r"), tcp)).references, ["1"]);
    });

    it("takes texts as complete, every message where the dialog says so, and every part likewise", async () => {
      await start({ gap: 60_000 });
      assert.deepEqual((await scan("ORDER-1", tcp)).references, ["ORDER-1"]);
      await flow.stop();
      await start({ framing: "message" });
      assert.deepEqual((await scan(Buffer.from("ORDER-1"))).references, ["ORDER-1"]);
      await flow.stop();
      await start({ framing: "stream", gap: 60_000 });
      const part = flow.start("node", { payload: "ORDER–", ...tcp });
      assert.deepEqual((await scan("2\r", tcp)).references, ["ORDER–2"]);
      assert.equal((await part).error, undefined);
    });
  });

  it("remembers a bounded number of scans, and forgets them in time", async () => {
    await start();
    const recent = new RecentScans(1_000);
    assert.equal(recent.isDuplicate("A", 0), false);
    assert.equal(recent.isDuplicate("A", 900), true);
    assert.equal(recent.isDuplicate("A", 1_800), true, "counted from the last time that it came");
    assert.equal(recent.isDuplicate("A", 2_800), false);
    for (let index = 0; index < 20_000; index++) {
      assert.equal(recent.isDuplicate(`scan ${index}`, 3_000), false);
    }
    assert.equal(recent.isDuplicate("scan 0", 3_000), false, "there is no room for all of them");
    assert.equal(recent.isDuplicate("scan 19999", 3_000), true);
    assert.equal(new RecentScans(0).isDuplicate("A", 0), false);
  });
});
