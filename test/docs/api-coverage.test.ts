import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CloudCalls } from "../../src/cloud/calls.ts";
import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import { generations } from "../../src/device/generations.ts";
import { errorCodes } from "../../src/errors/dimensioner-error.ts";
import { decodeDevice, decodeMediaList, decodeTerminal } from "../../src/model/cloud-records.ts";
import { decodeMeasureResult } from "../../src/model/measure-result.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { codeIn, readPage } from "./markdown.ts";
import { nameProblem, testTitles } from "./titles.ts";

const root = join(import.meta.dirname, "../..");
const text = readFileSync(join(root, "docs/api-coverage.md"), "utf8");
const { tables } = readPage(text);
const rows = tables.flatMap((table) => table.rows);
const clients = { DeviceClient, CloudClient };

describe("docs/api-coverage.md", function () {
  this.timeout(60_000);
  let titles: string[];

  before(async () => {
    titles = await testTitles();
  });

  it("has a node, a piece of the library and a test in every row, or says that there is none", () => {
    assert.ok(tables.length > 10 && rows.length > 200, `${tables.length} tables, ${rows.length} rows`);
    for (const { header } of tables) {
      assert.deepEqual(header.slice(1), ["node", "library", "test"]);
    }
    for (const [what = "", node = "", library = "", test = ""] of rows) {
      assert.ok(what !== "", test);
      for (const cell of [node, library]) {
        assert.ok(cell === "–" || codeIn(cell).length > 0, `${what}: ${cell}`);
      }
      assert.ok(codeIn(test).length > 0, `${what}: no test`);
    }
  });

  it("names tests that exist", () => {
    const problems = rows.flatMap(([what, , , test = ""]) =>
      codeIn(test).flatMap((name) => {
        const problem = nameProblem(titles, name);
        return problem === undefined ? [] : [`${what}: ${problem}`];
      }),
    );
    assert.deepEqual(problems, []);
  });

  it("names nodes that the package has", () => {
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      "node-red": { nodes: Record<string, string> };
    };
    const types = Object.keys(manifest["node-red"].nodes);
    const named = new Set(rows.flatMap(([, node = ""]) => codeIn(node)));
    assert.deepEqual(
      [...named].filter((type) => !types.includes(type)),
      [],
    );
    assert.deepEqual(
      types.filter((type) => !named.has(type)),
      [],
      "node types that no row names",
    );
  });

  it("names methods and files that exist", () => {
    const problems = rows.flatMap(([, , library = ""]) =>
      codeIn(library).filter((name) => {
        const [client = "", method = ""] = name.split(".");
        return client in clients
          ? typeof Reflect.get(clients[client as keyof typeof clients].prototype, method) !== "function"
          : !existsSync(join(root, name));
      }),
    );
    assert.deepEqual(problems, []);
  });

  it("names every method of the clients that asks for something", () => {
    const named = new Set(rows.flatMap(([, , library = ""]) => codeIn(library)));
    const own = ["constructor", "generation", "peer", "canPing", "close"];
    for (const [name, { prototype }] of Object.entries(clients)) {
      const missing = Object.getOwnPropertyNames(prototype).filter(
        (method) => !own.includes(method) && !named.has(`${name}.${method}`),
      );
      assert.deepEqual(missing, [], name);
    }
  });

  it("has every path that the package asks for", () => {
    const calls = new CloudCalls("");
    const ofCloud = [
      ...(["start", "stop", "cancel", "measure"] as const).map((action) =>
        calls.trigger(action, "ABCD2345", {}),
      ),
      calls.mediaList("{transactionId}", undefined),
      calls.media("{transactionId}", "{contentId}"),
      calls.devices(),
      calls.device("{id}"),
      calls.terminals(),
      calls.terminal("{id}"),
    ].map(({ path }) => decodeURIComponent(path));
    const ofDevices = Object.values(generations).flatMap(
      ({ measurePath, pingPath, imagePaths, videoActionPath, videoPaths }) => [
        measurePath,
        ...(pingPath === null ? [] : [`${pingPath}/{msg}`]),
        ...Object.values(imagePaths ?? {}).map((path) => `${path}/{imageid}`),
        ...(videoActionPath === null
          ? []
          : ["start", "stop", "cancel"].map((action) => `${videoActionPath}/${action}`)),
        ...Object.values(videoPaths ?? {}),
      ],
    );
    const listed = (tables[0]?.rows ?? []).flatMap(([endpoint = ""]) => codeIn(endpoint));
    const paths = listed.map((endpoint) => endpoint.split(" ")[1]);
    assert.deepEqual(
      [...ofCloud, ...ofDevices].filter((path) => !paths.includes(path)),
      [],
    );
  });

  it("has every field that the package reads", () => {
    const ours = (fields: object): string[] =>
      Object.keys(fields).filter((name) => !["ok", "source", "measuredObjects"].includes(name));
    const measure = decodeMeasureResult({ errorCode: 0, measuredObjects: [{}] }, "cloud");
    const lists: Record<string, string[]> = {
      "cloud, measure": ours(measure),
      "newer device, measured object": ours(measure.measuredObjects[0] ?? {}),
      "cloud, media item": ours(decodeMediaList([{ contentId: "1" }])[0] ?? {}),
      "cloud, device": ours(decodeDevice({ id: "1" })),
      "cloud, terminal": ours(decodeTerminal({ id: "1" })),
      "webhook, record": ours(decodeTransactionRecord({ id: "1", errorCode: 0 })),
    };
    for (const [surface, fields] of Object.entries(lists)) {
      const listed = rows.filter(([, , , test = ""]) => test.includes(`field by field ${surface}: `));
      const names = new Set(listed.flatMap(([what = ""]) => codeIn(what)));
      assert.deepEqual(
        fields.filter((field) => !names.has(field)),
        [],
        surface,
      );
    }
  });

  it("has every error code", () => {
    assert.deepEqual(
      errorCodes.filter((code) => !rows.some(([what = ""]) => what.includes(code))),
      [],
    );
  });

  it("would notice a name that is wrong, or that two tests have", () => {
    const some = ["a suite does this", "a suite does that", "another suite does this"];
    assert.equal(nameProblem(some, "a suite does that"), undefined);
    assert.equal(nameProblem(some, "does that"), undefined);
    assert.equal(nameProblem(some, "a suite does …"), undefined);
    for (const wrong of ["does this", "does nothing", "does nothing …", "suite"]) {
      assert.notEqual(nameProblem(some, wrong), undefined, wrong);
    }
  });
});
