import assert from "node:assert/strict";
import { appendFile, readdir, readFile, rename, rm, statfs, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type {
  EvidencePackage,
  MissingEvidence,
  PruneResult,
  SavedFile,
  StoreState,
  VerifyResult,
} from "../../src/model/shapes.ts";
import { pictureOf, sha256Of } from "../archive/support.ts";
import { untilListed, withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";
import { readLogged } from "../archive/logged.ts";
import { readZip } from "../archive/read-zip.ts";
import { storeId, storeNode } from "../support/store-node.ts";
import { parseTable } from "../evidence/parse-table.ts";

const measured = {
  ok: true,
  source: "newer-device",
  length: 33.5,
  width: 21,
  height: 12.5,
  dimsUnitOfMeasure: "cm",
  weight: 1.27,
  weightUnitOfMeasure: "kg",
  legalForTrade: true,
  measuredObjects: [{}],
};

/** A device that nobody can reach, so that the images of what it has measured are waited for. */
const device = {
  id: "dock",
  type: "dimensioner-device",
  name: "Dock",
  address: "127.0.0.1:1",
  checkInterval: 0,
};
const ofDevice = { measuredBy: { id: device.id, surface: "newer-device" }, imageIdentifier: "42" };

describe("dimensioner-evidence", () => {
  let flow: TestFlow;
  afterEach(() => flow.stop());

  const start = async (folder: string, more: readonly FlowNode[] = []): Promise<void> => {
    const store = storeId(folder);
    flow = await TestFlow.start([
      storeNode(folder),
      {
        id: "archive",
        z: "tab",
        type: "dimensioner-archive",
        store,
        media: "none",
        layout: "{transactionId}",
      },
      { id: "evidence", z: "tab", type: "dimensioner-evidence", store, action: "msg", by: "reference" },
      { id: "all", z: "tab", type: "dimensioner-evidence", store, action: "msg", by: "all", dryRun: false },
      ...more,
    ]);
  };
  const archive = async (transactionId: string, more: Message = {}): Promise<void> => {
    const given = { measurement: measured, transactionReference: `ORDER-${transactionId}`, ...more };
    const payload = pictureOf(`picture of ${transactionId}`);
    const { error } = await flow.run("archive", {
      transactionId,
      payload,
      contentType: "image/jpeg",
      ...given,
    });
    assert.equal(error, undefined);
  };
  /** Changes the manifest of a package as if it had been archived long ago. */
  const makeOld = (folder: string, id: string): void =>
    flow.changeDatabase(
      storeId(folder),
      `UPDATE packages SET archived_at = '2001' || substr(archived_at, 5) WHERE location = '${id}'`,
    );
  const run = async (action: string, payload: unknown, more: Message = {}, id = "evidence") => {
    const { error, sent } = await flow.run(id, { action, payload, ...more });
    return { error, payload: sent[0]?.msg["payload"], sent: sent.map(({ msg }) => msg) };
  };
  const found = async (payload: unknown, more: Message = {}, id = "evidence") =>
    (await run("find", payload, more, id)).payload as EvidencePackage[];

  it("finds a package by its tag, and shows it to nobody; of a record of somebody else, it shows everything", () =>
    withFolder(async (folder) => {
      const tag = "6b2e0a2c-0000-4000-8000-00c04fc964ff";
      const node = { z: "tab", type: "dimensioner-evidence", store: storeId(folder), by: "all" };
      await start(folder, [
        { ...node, id: "export", action: "export", output: "buffer" },
        { ...node, id: "csv", action: "csv" },
      ]);
      const sent = { transactionReference: null, customReference1: "shift 1", customReference2: tag };
      const record = { ...sent, source: "webhook", transactionId: "2", customReference3: "DB1" };
      const measuredBy = { surface: "cloud", tag };
      for (const [id, more, shown, manifestTag] of [
        ["1", { measuredBy, ...sent }, ["shift 1", null, null], "customReference2"],
        ["2", { measurement: record }, ["shift 1", tag, "DB1"], undefined],
        ["3", { measurement: record, tag: "DB1" }, ["shift 1", tag, "DB1"], undefined],
        ["4", { measurement: record, tag }, ["shift 1", null, "DB1"], "customReference2"],
      ] as const) {
        const given = { contentType: "image/jpeg", payload: pictureOf(id), transactionId: id };
        const { error } = await flow.run("archive", { measurement: measured, ...given, ...more });
        assert.equal(error, undefined, error?.message);
        const one = (await found(tag)).find(({ transactionId }) => transactionId === id);
        assert.deepEqual([one?.customReference1, one?.customReference2, one?.customReference3], shown, id);
        const text = await readFile(join(folder, id, "manifest.json"), "utf8");
        const manifest = JSON.parse(text) as { tag?: string; references: Message };
        assert.deepEqual([manifest.tag, manifest.references["customReference2"]], [manifestTag, tag], id);
      }
      const rows = parseTable(Buffer.from(String((await run("csv", null, {}, "csv")).payload)));
      assert.deepEqual(
        rows.map((row) => row["customReference2"]),
        ["", tag, tag, ""],
      );
      const zip = join(folder, "..", `${storeId(folder)}.zip`);
      await writeFile(zip, (await run("export", null, {}, "export")).payload as Buffer);
      const report = (await readZip(zip)).find(({ name }) => name.endsWith("report.html"));
      await rm(zip);
      const page = String(report?.content);
      assert.equal(page.split(tag).length - 1, 2, "of the packages whose reference it is");
      assert.equal(page.split("Custom reference 2").length - 1, 2);
    }));

  it("finds packages with what was measured, whatever the case of the letters", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      await archive("2");
      const [one, ...others] = await found("order-1");
      assert.deepEqual(others, []);
      for (const scan of ["\u0002ORDER-1\r\n", Buffer.from("ORDER-1\r\n"), Buffer.from("ORDER-1").toJSON()]) {
        const scanned = await found(scan);
        assert.deepEqual(
          scanned.map(({ packageId }) => packageId),
          [one?.packageId],
        );
      }
      assert.deepEqual(
        [one?.transactionId, one?.length, one?.dimsUnitOfMeasure, one?.weight, one?.weightUnitOfMeasure],
        ["1", 33.5, "cm", 1.27, "kg"],
      );
      assert.deepEqual(
        [one?.location, one?.legalForTrade, one?.complete, one?.hold],
        ["1", true, true, null],
      );
      assert.equal(one?.files.length, 1);
      assert.equal(flow.lastStatus("evidence")?.text, "packages: 1");
      assert.deepEqual(
        (await found(undefined, {}, "all")).map(({ transactionId }) => transactionId),
        ["2", "1"],
      );
      assert.deepEqual(await found("nobody's"), []);
    }));

  it("finds any part of a reference, and only what a filter leaves", () =>
    withFolder(async (folder) => {
      const node = {
        id: "text",
        z: "tab",
        type: "dimensioner-evidence",
        store: storeId(folder),
        action: "find",
      };
      await start(folder, [
        { ...node, by: "text" },
        { ...node, id: "held", by: "all", onHold: true },
      ]);
      await archive("4711", { device: "Dock 4" });
      await archive("4712", { device: "Dock 5" });
      await run("hold", "ORDER-4712", { reason: "a claim" });
      const ids = async (payload: unknown, more: Message = {}, id = "text") =>
        (await found(payload, more, id)).map(({ transactionId }) => transactionId);
      assert.deepEqual(await ids("471"), ["4712", "4711"]);
      assert.deepEqual(await ids("4711 order"), ["4711"]);
      assert.deepEqual(await ids("471", { filter: { device: "Dock 4" } }), ["4711"]);
      assert.deepEqual(await ids("471", { filter: { onHold: true } }), ["4712"]);
      assert.deepEqual(await ids("471", { filter: { film: true } }), []);
      assert.deepEqual(await ids("471", { filter: { period: "24h", incomplete: false } }), ["4712", "4711"]);
      assert.deepEqual(await ids(undefined, {}, "held"), ["4712"]);
      assert.deepEqual(await ids(undefined, { filter: {} }, "held"), ["4712", "4711"]);
      await run("release", "ORDER-4712", { reason: "settled" });
      assert.deepEqual(await ids(undefined, {}, "held"), []);
      for (const filter of ["24h", { film: "yes" }, { period: "soon" }]) {
        assert.equal((await run("find", "471", { filter }, "text")).error?.code, "ERR_INPUT");
      }
    }));

  it("knows who did the work, finds it, and shows it in a report", () =>
    withFolder(async (folder) => {
      const store = storeId(folder);
      const node = { z: "tab", type: "dimensioner-evidence", store };
      await start(folder, [
        { ...node, id: "text", action: "find", by: "text" },
        { ...node, id: "export", action: "export", by: "text", output: "buffer" },
      ]);
      await archive("1", { operator: " Zoë Świątek ", work: "return", note: "Glass" });
      await archive("2", { operator: 4711 });
      for (const [id, operator] of [
        ["3", " "],
        ["4", { name: "Anna" }],
        ["5", undefined],
      ] as const) {
        await archive(id, { operator });
      }
      assert.deepEqual(
        (await found(undefined, {}, "all")).map(({ operator }) => operator),
        [null, null, null, "4711", "Zoë Świątek"],
      );
      const [only, ...others] = await found("świątek", {}, "text");
      assert.deepEqual([only?.transactionId, others], ["1", []]);
      const [row] = flow.rowsOf(store, "SELECT operator FROM packages_v1 WHERE transaction_id = '1'");
      assert.equal(row?.["operator"], "Zoë Świątek");
      const { payload } = await run("export", "ZOË", {}, "export");
      assert.ok(Buffer.isBuffer(payload));
      const zip = join(folder, "..", `${store}.zip`);
      await writeFile(zip, payload);
      try {
        const report = (await readZip(zip)).find(({ name }) => name.endsWith("report.html"));
        assert.match(String(report?.content), /Operator<\/dt>\s*<dd>(?:<bdi>)?Zoë Świątek/);
        assert.match(String(report?.content), /Work<\/dt>\s*<dd>(?:<bdi>)?Return</);
        assert.match(String(report?.content), /Note<\/dt>\s*<dd>(?:<bdi>)?Glass</);
      } finally {
        await rm(zip);
      }
    }));

  it("finds packages by the kind of work, and by what was noted about a parcel", () =>
    withFolder(async (folder) => {
      const node = { z: "tab", type: "dimensioner-evidence", store: storeId(folder), by: "all" };
      await start(folder, [
        { ...node, id: "text", action: "find", by: "text" },
        { ...node, id: "returns", action: "find", filterWork: "return" },
        { ...node, id: "csv", action: "csv" },
      ]);
      await archive("1", { work: " return ", note: " Cancelled; refunded by Ela " });
      await archive("2", { work: "packing" });
      await archive("3", { work: { kind: "return" }, note: 4 });
      await archive("4", { work: "repair" });
      const kinds = async (filter: object) =>
        (await found(undefined, { filter }, "all")).map(({ transactionId, work }) => [transactionId, work]);
      assert.deepEqual(await kinds({}), [
        ["4", "repair"],
        ["3", "packing"],
        ["2", "packing"],
        ["1", "return"],
      ]);
      assert.deepEqual(await kinds({ work: "return" }), [["1", "return"]]);
      assert.deepEqual(await kinds({ work: "packing" }), [
        ["3", "packing"],
        ["2", "packing"],
      ]);
      assert.equal((await run("find", "", { filter: { work: 1 } }, "all")).error?.code, "ERR_INPUT");
      const [noted] = await found("refunded", {}, "text");
      assert.deepEqual([noted?.transactionId, noted?.note], ["1", "Cancelled; refunded by Ela"]);
      const onlyReturns = (await run("find", "", {}, "returns")).payload as EvidencePackage[];
      assert.deepEqual(
        onlyReturns.map(({ transactionId }) => transactionId),
        ["1"],
      );
      const { payload: table } = await run("csv", "", {}, "csv");
      assert.match(
        String(table),
        /,return,Cancelled; refunded by Ela,|,return,"Cancelled; refunded by Ela",/,
      );
      assert.deepEqual(
        flow
          .rowsOf(storeId(folder), "SELECT work FROM packages_v1 ORDER BY archived_at")
          .map(({ work }) => work),
        ["return", "packing", "packing", "repair"],
      );
    }));

  it("names what it needs: a value, a period, a reason, a package", () =>
    withFolder(async (folder) => {
      await start(folder);
      const codeOf = async (action: string, payload: unknown, more: Message = {}) =>
        (await run(action, payload, more)).error?.code;
      assert.equal(await codeOf("find", " "), "ERR_INPUT");
      assert.equal(await codeOf("find", { a: 1 }), "ERR_INPUT");
      assert.equal(await codeOf("missing", "2026-02-31"), "ERR_INPUT");
      assert.equal(await codeOf("hold", "ORDER-1"), "ERR_INPUT");
      assert.equal(await codeOf("hold", "ORDER-1", { reason: "claim" }), "ERR_NOT_FOUND");
      assert.equal(await codeOf("verify", "ORDER-1"), "ERR_NOT_FOUND");
      assert.equal(await codeOf("erase", "ORDER-1"), "ERR_INPUT");
    }));

  it("deletes nothing while its check box says so in text, as an environment variable does", () =>
    withFolder(async (folder) => {
      const node = { z: "tab", type: "dimensioner-evidence", store: storeId(folder), by: "all" };
      const prune = { ...node, action: "prune", olderThan: 1 };
      await start(folder, [
        { ...prune, id: "list", dryRun: "true" },
        { ...prune, id: "perhaps", dryRun: "perhaps" },
      ]);
      await archive("1");
      makeOld(folder, "1");
      const { error, payload } = await run("", undefined, {}, "list");
      const { dryRun, deleted } = payload as PruneResult;
      assert.deepEqual([error, dryRun, deleted], [undefined, true, 1]);
      assert.equal((await run("", undefined, {}, "perhaps")).error?.code, "ERR_CONFIG");
      assert.equal((await found(undefined, {}, "all")).length, 1);
      assert.ok((await readdir(join(folder, "1"))).includes("manifest.json"));
    }));

  it("holds a package with a reason against deletion, records it, and releases it", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      await archive("2");
      const { payload } = await run("hold", "ORDER-1", { reason: "claim 17", person: "Anna" });
      const [held] = payload as EvidencePackage[];
      assert.deepEqual([held?.hold?.reason, held?.hold?.person], ["claim 17", "Anna"]);
      assert.equal(flow.lastStatus("evidence")?.text, "on hold: 1");
      assert.deepEqual((await found("ORDER-1"))[0]?.hold, held?.hold);
      const again = await run("release", "ORDER-1", { reason: "settled" });
      assert.equal((again.payload as EvidencePackage[])[0]?.hold, null);
      const log = (await readLogged(folder)).flatMap((event) =>
        event.what === "held" || event.what === "released" ? [[event.what, event.person, event.reason]] : [],
      );
      assert.deepEqual(log, [
        ["held", "Anna", "claim 17"],
        ["released", null, "settled"],
      ]);
      assert.deepEqual(
        (await readdir(join(folder, "1"))).filter((name) => /hold/.test(name)),
        [],
      );
    }));

  it("holds a package with a reason and a person that are as long as they may be, and with no longer ones", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      // JSON needs six characters for each of these.
      const [reason, person] = ["\u0001".repeat(1_000), "\u0001".repeat(100)];
      for (const action of ["hold", "release"]) {
        for (const [long, said] of [
          [{ reason: `${reason}1`, person }, /reason: it is longer than 1000 characters/],
          [{ reason, person: `${person}1` }, /person: it is longer than 100 characters/],
          [{ reason: "x".repeat(20_000_000) }, /reason: it is longer than 1000 characters/],
        ] as const) {
          const { error } = await run(action, "ORDER-1", long);
          assert.equal(error?.code, "ERR_INPUT", action);
          assert.match(error.message, said);
        }
      }
      assert.equal((await found("ORDER-1"))[0]?.hold, null);
      await run("hold", "ORDER-1", { reason, person });
      const { heldAt, ...hold } = (await found("ORDER-1"))[0]?.hold ?? assert.fail("it is not on hold");
      assert.deepEqual(hold, { reason, person });
      assert.ok(heldAt !== null);
    }));

  it("looks for no text that is longer than any of a package", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      for (const by of ["reference", "text"]) {
        const { error } = await run("find", "é ".repeat(500_000), { by });
        assert.match(String(error?.message), /value: it is longer than 10000 characters/);
        assert.equal(error?.code, "ERR_INPUT");
      }
    }));

  it("shows the beginning of a long text that somebody has put there by hand", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      await writeFile(join(folder, "1", "hold.txt"), ` ${"é".repeat(100_000)}`);
      assert.deepEqual((await found("ORDER-1"))[0]?.hold, {
        heldAt: null,
        person: null,
        reason: "é".repeat(999),
      });
    }));

  it("shows a hold that somebody has put there by hand, and does not release it", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      await writeFile(join(folder, "1", "hold.txt"), "court case");
      assert.deepEqual((await found("ORDER-1"))[0]?.hold, {
        heldAt: null,
        person: null,
        reason: "court case",
      });
      const { error } = await run("release", "ORDER-1", { reason: "no" });
      assert.equal(error?.code, "ERR_INPUT");
      assert.match(error?.message ?? "", /hold\.txt/);
    }));

  it("refuses to hold more packages than the limit, and holds none of them", () =>
    withFolder(async (folder) => {
      const node = { id: "two", z: "tab", type: "dimensioner-evidence", store: storeId(folder) };
      await start(folder, [{ ...node, action: "hold", by: "text", limit: 2 }]);
      for (const id of ["1", "2", "3"]) {
        await archive(id);
      }
      assert.equal((await run("", "ORDER-", { reason: "all" }, "two")).error?.code, "ERR_INPUT");
      assert.deepEqual(
        (await found("", {}, "all")).map(({ hold }) => hold),
        [null, null, null],
      );
      const { payload } = await run("", "ORDER-3", { reason: "one" }, "two");
      assert.equal((payload as EvidencePackage[]).length, 1);
    }));

  it("verifies packages and the whole archive, and says what is wrong", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      await archive("2");
      const verify = async (value: unknown, id?: string) =>
        (await run("verify", value, {}, id)).payload as VerifyResult;
      assert.deepEqual([(await verify("ORDER-1")).verdict, (await verify("", "all")).verdict], ["ok", "ok"]);
      assert.equal(flow.lastStatus("all")?.text, "as archived: 2");
      const [file] = (await found("ORDER-1"))[0]?.files ?? [];
      await appendFile(file?.path ?? "", "!");
      const state = async () => (await run("state", null)).payload as StoreState;
      assert.deepEqual([(await state()).neverVerified, (await state()).damaged], [0, 0]);
      const wrong = await verify("ORDER-1");
      const [damaged] = await found("ORDER-1");
      assert.deepEqual([damaged?.damage, damaged?.problem], ["changed", null]);
      assert.ok(Date.parse(damaged?.verifiedAtUtc ?? "") <= Date.now());
      assert.deepEqual(
        [(await state()).damaged, (await state()).oldestVerificationAtUtc !== null],
        [1, true],
      );
      assert.deepEqual([wrong.verdict, wrong.findingCount, wrong.findings[0]?.kind], ["wrong", 1, "changed"]);
      assert.equal((await verify("ORDER-2")).verdict, "ok");
      assert.equal((await verify("", "all")).findingCount, 1);
      assert.deepEqual(flow.lastStatus("all")?.text, "findings: 1");
      const inPart = await run("verify", "", { minutes: 10 }, "all");
      const { findings, part } = inPart.payload as VerifyResult;
      assert.deepEqual([findings.map(({ kind }) => kind), part?.never], [["changed"], 0]);
      assert.equal((await run("verify", "", { minutes: -1 }, "all")).error?.code, "ERR_INPUT");
      await writeFile(join(folder, "2", "manifest.json"), "{}");
      assert.equal((await verify("ORDER-2")).findings[0]?.kind, "manifest");
      assert.equal(typeof (await found("ORDER-2"))[0]?.problem, "string");
    }));

  it("finds no values that are not what was archived, and says of which package", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      await archive("2");
      const shown = async (id: string) => {
        const [one] = await found(`ORDER-${id}`);
        return [one?.changed, typeof one?.problem, one?.length];
      };
      assert.deepEqual(await shown("1"), [false, "object", 33.5]);
      const edit = async (path: string, from: string, to: string): Promise<void> => {
        const text = await readFile(join(folder, path), "utf8");
        assert.ok(text.includes(from));
        await writeFile(join(folder, path), text.replace(from, to));
      };
      await edit("1/measurement.json", "33.5", "23.5");
      assert.deepEqual(await shown("1"), [true, "string", null]);
      await rm(join(folder, "1/measurement.json"));
      assert.deepEqual(await shown("1"), [true, "string", null]);
      await edit("2/manifest.json", "ORDER-2", "ORDER-9");
      const [one] = await found("ORDER-2");
      assert.match(one?.problem ?? "", /^The manifest is not the one that was archived/);
      assert.deepEqual(await shown("2"), [true, "string", 33.5]);
      const held = await run("hold", "ORDER-1", { reason: "somebody has changed it" });
      assert.equal(held.error, undefined, "it is kept as it is");
    }));

  it("deletes a package that is older than the days that the dialog names, unless it is on hold", () =>
    withFolder(async (folder) => {
      await start(folder);
      for (const id of ["1", "2", "3"]) {
        await archive(id);
      }
      for (const id of ["1", "2"]) {
        makeOld(folder, id);
      }
      await run("hold", "ORDER-1", { reason: "claim" });
      const listed = (await run("prune", "")).payload as PruneResult;
      assert.deepEqual([listed.dryRun, listed.deleted, listed.held], [true, 1, 1]);
      assert.equal(flow.lastStatus("evidence")?.text, "would be deleted: 1");
      const report = (await run("prune", "", {}, "all")).payload as PruneResult;
      assert.deepEqual(report.packages.map(({ what, path }) => [what, path]).toSorted(), [
        ["deleted", "2"],
        ["held", "1"],
      ]);
      assert.equal(flow.lastStatus("all")?.text, "deleted: 1");
      const left = (await readdir(folder)).filter((name) => !name.startsWith("."));
      assert.deepEqual(left.toSorted(), ["1", "3"]);
    }));

  it("deletes nothing where the archive contradicts the clock, unless its dialog insists", () =>
    withFolder(async (folder) => {
      const node = { z: "tab", type: "dimensioner-evidence", store: storeId(folder), action: "prune" };
      const shared = { ...node, olderThan: 1, dryRun: false };
      await start(folder, [
        { ...shared, id: "careful" },
        { ...shared, id: "insisting", despiteClock: true },
      ]);
      await archive("1");
      makeOld(folder, "1");
      const refused = await run("", undefined, { despiteClock: true }, "careful");
      assert.equal(refused.error?.code, "ERR_CONFIG");
      assert.match(
        refused.error?.message ?? "",
        /Nothing was deleted: the clock .*“Delete despite the clock” in the evidence node.*--despite-clock/,
      );
      assert.equal(((await run("", undefined, {}, "insisting")).payload as PruneResult).deleted, 1);
    }));

  it("deletes the oldest package because of space, and warns of it before", () =>
    withFolder(async (folder) => {
      const node = { z: "tab", type: "dimensioner-evidence", store: storeId(folder), action: "prune" };
      await start(folder, [
        { ...node, id: "full", olderThan: 1, useAtMost: 1e-9, dryRun: false },
        { ...node, id: "young", olderThan: 1000, useAtMost: 1e-9, dryRun: false },
        { ...node, id: "soon", olderThan: 1, useAtMost: 0.000_001, dryRun: false },
        { ...node, id: "free", olderThan: 1, keepFree: 1e-9, dryRun: false },
      ]);
      for (const id of ["1", "2"]) {
        await archive(id);
      }
      const prune = async (id: string) => (await run("", undefined, {}, id)).payload as PruneResult;
      assert.deepEqual([(await prune("soon")).deleted, (await prune("free")).deleted], [0, 0]);
      assert.match(flow.lastStatus("soon")?.text ?? "", /^space for days: \d$/);
      assert.match((await prune("young")).space?.problem ?? "", /younger than the minimum age/);
      assert.equal(flow.lastStatus("young")?.text, "not enough space");
      makeOld(folder, "2");
      const { packages } = await prune("full");
      assert.deepEqual(packages, [{ what: "deleted", path: "2", bytes: packages[0]?.bytes ?? 0 }]);
    }));

  it("verifies one message after the other; a reset ends those that wait, and a deploy what runs", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      const [file] = (await found("ORDER-1"))[0]?.files ?? [];
      // No disk hashes so much before the deploy.
      await truncate(file?.path ?? "", 2 ** 40);
      const running = flow.start("evidence", { action: "verify", payload: "ORDER-1" });
      const waiting = flow.start("all", { action: "verify" });
      await flow.untilStatus("all", ({ text }) => text === "in queue: 1");
      await flow.run("all", { reset: true });
      assert.equal((await waiting).error?.code, "ERR_CANCELLED");
      assert.equal((await found("ORDER-1")).length, 1);
      await flow.deploy([storeNode(folder)]);
      assert.equal((await running).error?.code, "ERR_CANCELLED");
    }));

  it("exports packages with a report, onto the message or into a file, and says what is wrong with them", () =>
    withFolder((to) =>
      withFolder(async (folder) => {
        const more = {
          z: "tab",
          type: "dimensioner-evidence",
          store: storeId(folder),
          action: "export",
          by: "reference",
          output: "file",
          folder: to,
          language: "fr",
        };
        await start(folder, [
          { id: "file", ...more },
          { id: "inside", ...more, folder },
          { id: "nowhere", ...more, folder: "" },
        ]);
        await archive("1");
        await archive("2");
        const [one] = (await run("export", "ORDER-1", { recognized: false })).sent;
        assert.equal("recognized" in (one ?? {}), false, "it was of an earlier medium");
        assert.ok(Buffer.isBuffer(one?.["payload"]));
        assert.deepEqual(
          [one["contentType"], one["filename"], (one["verification"] as VerifyResult).verdict],
          ["application/zip", "evidence-ORDER-1.zip", "ok"],
        );
        assert.match(one["payload"].toString("latin1"), /<html lang="en-US">/);
        const [file] = (await run("", "ORDER-1", {}, "file")).sent;
        const { path } = file?.["payload"] as SavedFile;
        const zip = await readFile(path);
        const saved = { path, bytes: zip.length, sha256: sha256Of(zip), contentType: "application/zip" };
        assert.deepEqual(file?.["payload"], saved, "a ZIP is no medium of an unknown format");
        assert.deepEqual([path, file["filename"]], [join(to, "evidence-ORDER-1.zip"), path]);
        assert.match(zip.toString("latin1"), /<html lang="fr">/);
        assert.match(flow.lastStatus("file")?.text ?? "", /^saved /);
        const [medium] = (await found("ORDER-1"))[0]?.files ?? [];
        await appendFile(medium?.path ?? "", "!");
        const wrong = (await run("", "ORDER-1", {}, "file")).sent[0];
        assert.equal((wrong?.["verification"] as VerifyResult).findings[0]?.kind, "changed");
        assert.equal(wrong?.["filename"], join(to, "evidence-ORDER-1 (1).zip"));
        assert.equal(flow.lastStatus("file")?.text, "findings: 1");
        assert.equal((await run("", "ORDER-3", {}, "file")).error?.code, "ERR_NOT_FOUND");
        assert.equal((await run("", "ORDER-2", {}, "inside")).error?.code, "ERR_CONFIG");
        assert.equal((await run("", "ORDER-2", {}, "nowhere")).error?.code, "ERR_CONFIG");
      }),
    ));

  it("lists packages as CSV, those that its value and its filters find", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1", { device: "Dock 1" });
      await archive("2", { device: "Dock 2" });
      const list = async (more: Message = {}) => {
        const [msg] = (await run("csv", "today", more, "days")).sent;
        const rows = parseTable(Buffer.from(String(msg?.["payload"])));
        return { msg, ids: rows.map((row) => row["transactionId"]) };
      };
      await flow.deploy([
        storeNode(folder),
        {
          id: "days",
          z: "tab",
          type: "dimensioner-evidence",
          store: storeId(folder),
          action: "msg",
          by: "period",
          limit: 1,
        },
      ]);
      const { ids, msg } = await list();
      assert.deepEqual(ids, ["2", "1"], "whatever the limit of the other actions");
      assert.deepEqual([msg?.["contentType"], msg?.["more"]], ["text/csv; charset=utf-8", false]);
      assert.match(String(msg?.["filename"]), /^packages-[\d-]{10}\.csv$/);
      assert.deepEqual((await list({ filter: { device: "Dock 1" } })).ids, ["1"]);
      assert.equal(flow.lastStatus("days")?.text, "packages: 1");
    }));

  it("exports for a claim, under the heading of the store", () =>
    withFolder(async (folder) => {
      const logo = join(folder, "..", "logo-of-shop.png");
      const evidence = { z: "tab", type: "dimensioner-evidence", action: "export", by: "reference" };
      const shop = { shop: "Nord & Co", shopAddress: "Kai 4, Hamburg" };
      await start(folder, [
        { ...storeNode(folder), ...shop },
        { id: "typed", store: storeId(folder), claim: "C-5", claimType: "str", ...evidence },
      ]);
      await archive("1");
      const pageOf = async (node: string, more: Message): Promise<string> => {
        const { sent, error } = await run("export", "ORDER-1", more, node);
        const content = sent[0]?.["payload"];
        return Buffer.isBuffer(content) ? content.toString() : String(error?.["code"]);
      };
      assert.match(
        await pageOf("evidence", { claim: 2026 }),
        /Nord &amp; Co.*Kai 4, Hamburg.*Claim number: <bdi>2026</s,
      );
      assert.match(await pageOf("typed", { claim: 2026 }), /Claim number: <bdi>C-5</);
      assert.doesNotMatch(await pageOf("evidence", {}), /Claim number/);
      assert.equal(await pageOf("evidence", { claim: "x".repeat(101) }), "ERR_INPUT");
      await flow.deploy([
        { ...storeNode(folder), ...shop, logo },
        { id: "evidence", store: storeId(folder), ...evidence },
      ]);
      assert.equal(await pageOf("evidence", {}), "ERR_CONFIG");
    }));

  it("leaves no file of an export that a deploy has ended", () =>
    withFolder((to) =>
      withFolder(async (folder) => {
        const node = { id: "file", z: "tab", type: "dimensioner-evidence", store: storeId(folder) };
        await start(folder, [{ ...node, action: "export", by: "reference", output: "file", folder: to }]);
        await archive("1");
        const [file] = (await found("ORDER-1"))[0]?.files ?? [];
        // No disk reads so much before the deploy.
        await truncate(file?.path ?? "", 2 ** 40);
        const running = flow.start("file", { payload: "ORDER-1" });
        await flow.untilStatus("file", ({ text }) => text === "searching");
        await flow.deploy([storeNode(folder)]);
        assert.equal((await running).error?.code, "ERR_CANCELLED");
        await untilListed(to, []);
      }),
    ));

  it("lists what has no package, in messages that archive takes as they are", () =>
    withFolder(async (folder) => {
      const store = storeId(folder);
      await start(folder, [
        device,
        { id: "split", z: "tab", type: "dimensioner-evidence", store, action: "missing", emit: "split" },
      ]);
      // A job whose first part has come and whose second one has not is open.
      const parts = { id: "sequence", index: 0, count: 2 };
      const first = { transactionId: "8", transactionReference: "ORDER-8", payload: pictureOf("8"), parts };
      const open = flow.start("archive", { ...first, contentType: "image/jpeg" });
      await flow.untilStatus("archive", ({ text }) => text.includes("1 open"));
      const missing = (await run("missing", "24h")).payload as MissingEvidence[];
      assert.deepEqual(
        missing.map(({ reason, transactionId, archiveAgain }) => [reason, transactionId, archiveAgain]),
        [["open", "8", null]],
      );
      const opened = (await flow.run("split", { payload: "24h" })).sent;
      assert.deepEqual(
        opened.map(({ port, msg }) => [port, (msg["missing"] as MissingEvidence).reason]),
        [[1, "open"]],
      );
      await flow.run("archive", { reset: true });
      assert.equal((await open).error?.code, "ERR_CANCELLED");
      await archive("1");
      const second = { transactionId: "9", transactionReference: "ORDER-9", measurement: measured };
      const recorded = { action: "start", at: "2026-11-02T09:00:00.000Z", transactionReference: "ORDER-9" };
      const video = { ...recorded, recording: "taken" };
      const other = flow.start("archive", { ...second, ...ofDevice, video });
      await flow.untilStatus("archive", ({ text }) => text.startsWith("no connection"));
      await flow.run("archive", { reset: true });
      assert.equal((await other).error?.code, "ERR_CANCELLED");
      // A job is written as failed right after its message has ended.
      let failed: MissingEvidence[];
      do {
        failed = (await run("missing", "today")).payload as MissingEvidence[];
      } while (failed.some((one) => one.reason === "open"));
      const { sent } = await flow.run("split", { payload: "today" });
      assert.deepEqual(
        sent.map(({ port, msg }) => [port, (msg["missing"] as MissingEvidence).transactionId]),
        [
          [0, "9"],
          [1, "8"],
        ],
      );
      const [again, rest] = sent.map(({ msg }) => msg);
      assert.equal(rest?.["payload"], null);
      assert.deepEqual([again?.["transactionId"], again?.["transactionReference"]], ["9", "ORDER-9"]);
      assert.deepEqual(again?.["video"], video);
      const { reason, errorCode } = again?.["missing"] as MissingEvidence;
      assert.deepEqual([reason, errorCode], ["failed", "ERR_CANCELLED"]);
      // The picture of the other one came with its message: a package without it would not be complete.
      assert.deepEqual(
        failed.map(({ transactionId, archiveAgain }) => [transactionId, archiveAgain === null]).sort(),
        [
          ["8", true],
          ["9", false],
        ],
      );
    }));

  it("adds numbers that come later, by which the package is found from then on", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      await archive("2");
      const person = "Anna";
      const named = await run("name", "ORDER-1", {
        numbers: ["1Z 999", "1Z 999", 4711],
        person,
        reason: "label",
      });
      assert.equal(named.error, undefined);
      assert.equal(flow.lastStatus("evidence")?.text, "numbers added: 2");
      for (const number of ["1z 999", "4711"]) {
        const [one, ...others] = await found(number);
        assert.deepEqual([one?.location, others.length], ["1", 0], number);
        assert.deepEqual(
          one?.numbers.map((added) => [added.number, added.person, added.reason]),
          [
            ["1Z 999", "Anna", "label"],
            ["4711", "Anna", "label"],
          ],
        );
      }
      await run("name", "ORDER-1", { numbers: "4711" });
      const logged = (await readLogged(folder)).flatMap((event) =>
        event.what === "named" ? [[event.path, event.number]] : [],
      );
      assert.deepEqual(logged, [
        ["1", "1Z 999"],
        ["1", "4711"],
      ]);
      const report = (await run("verify", undefined, {}, "all")).payload as VerifyResult;
      assert.deepEqual([report.verdict, report.findings], ["ok", []]);
    }));

  it("adds no number where it does not know which, or to which package", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1", { transactionReference: "ORDER" });
      await archive("2", { transactionReference: "ORDER" });
      await archive("3", { transactionReference: "ONE" });
      const refused: readonly (readonly [payload: string, numbers: unknown, code: string, text: RegExp])[] = [
        ["ONE", undefined, "ERR_INPUT", /numbers is missing/],
        ["ONE", [], "ERR_INPUT", /numbers is missing/],
        ["ONE", ["17", {}], "ERR_INPUT", /numbers is missing/],
        ["ONE", "9".repeat(201), "ERR_INPUT", /longer than 200 characters/],
        ["ONE", Array.from({ length: 51 }, (_, index) => index), "ERR_INPUT", /more than 50 added numbers/],
        ["NONE", "17", "ERR_NOT_FOUND", /No package was found for “NONE”/],
        ["ORDER", "17", "ERR_INPUT", /Packages of several parcels were found for “ORDER”/],
      ];
      for (const [payload, numbers, code, text] of refused) {
        const { error } = await run("name", payload, { numbers });
        assert.ok(error !== undefined, payload);
        assert.equal(error.code, code, error.message);
        assert.match(error.message, text);
      }
      assert.ok((await readLogged(folder)).every(({ what }) => what !== "named"));
    }));

  it("reports the state of the store: its open jobs, the age of the oldest one, and the space", () =>
    withFolder(async (folder) => {
      await start(folder);
      const none = (await run("state", null)).payload as StoreState;
      assert.deepEqual([none.openJobs, none.oldestJobAtUtc, none.oldestJobFor], [0, null, null]);
      const space = await statfs(folder);
      assert.equal(none.totalBytes, space.blocks * space.bsize);
      assert.ok((none.freeBytes ?? 0) > 0 && (none.freeBytes ?? 0) <= space.blocks * space.bsize);
      const startedAt = Date.now();
      const parts = { id: "sequence", index: 0, count: 2 };
      const open = flow.start("archive", { transactionId: "8", payload: pictureOf("8"), parts });
      await flow.untilStatus("archive", ({ text }) => text.includes("1 open"));
      const state = (await run("state", null)).payload as StoreState;
      assert.deepEqual([state.openJobs, state.unhandledRecords], [1, 0]);
      assert.ok(Date.parse(state.oldestJobAtUtc ?? "") >= startedAt);
      assert.ok((state.oldestJobFor ?? -1) >= 0);
      assert.equal(flow.lastStatus("evidence")?.text, "open jobs: 1");
      await flow.run("archive", { reset: true });
      await open;
      await rename(folder, `${folder}-gone`);
      assert.equal((await run("state", null)).error?.code, "ERR_FILE");
      await rename(`${folder}-gone`, folder);
    }));

  it("gives archive messages that become packages, each of its own", () =>
    withFolder(async (folder) => {
      const store = storeId(folder);
      await start(folder, [
        device,
        { id: "plain", z: "tab", type: "dimensioner-archive", store, media: "none", images: "" },
        { id: "split", z: "tab", type: "dimensioner-evidence", store, action: "missing", emit: "split" },
      ]);
      const ids = ["7", "8", "9"];
      const open = ids.map((id) => {
        const given = {
          transactionId: id,
          transactionReference: `ORDER-${id}`,
          measurement: measured,
          ...ofDevice,
          imageIdentifier: id,
        };
        return flow.start("archive", given);
      });
      let missing: MissingEvidence[];
      do {
        missing = (await run("missing", "24h")).payload as MissingEvidence[];
      } while (missing.length < ids.length);
      await flow.run("archive", { reset: true });
      await Promise.all(open);
      // A job is written as failed right after its message has ended.
      do {
        missing = (await run("missing", "24h")).payload as MissingEvidence[];
      } while (missing.some(({ reason }) => reason === "open"));
      const { sent } = await run("", "24h", {}, "split");
      assert.equal(sent.length, 3);
      for (const msg of sent) {
        assert.equal((await flow.run("plain", msg)).error, undefined);
      }
      const packages = await found(undefined, {}, "all");
      assert.deepEqual(packages.map(({ transactionId, length }) => [transactionId, length]).sort(), [
        ["7", 33.5],
        ["8", 33.5],
        ["9", 33.5],
      ]);
      assert.deepEqual((await run("", "24h", {}, "split")).sent, []);
    }));
});
