import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { inspect } from "node:util";
import {
  anything,
  array,
  assert as assertProperty,
  asyncProperty,
  constantFrom,
  oneof,
  property,
  record,
  type Arbitrary,
} from "fast-check";
import * as library from "../../src/index.ts";
import {
  billableWeight,
  CloudClient,
  DeviceClient,
  DimensionerError,
  errorCodes,
  listFleet,
  readScan,
  readScans,
  readToBuffer,
  readTransactionRecord,
  saveToFile,
  type CloudClientOptions,
  type DeviceClientOptions,
} from "../../src/index.ts";
import { failureOf } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { reply, startServer } from "../support/servers.ts";

/** A call without TypeScript's help. */
type Untyped = (...given: unknown[]) => unknown;

function caught(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

/** Only documented errors come out, whatever goes in. */
function assertDocumented(error: unknown, about: string): void {
  if (error instanceof Error) {
    assert.ok(error instanceof DimensionerError, `${about}: ${inspect(error)}`);
    assert.ok(errorCodes.includes(error.code), about);
    assert.doesNotMatch(error.message, /\[object|function \(/, about);
    // A placeholder that nothing was put in for. What was given may look like one, such as “__proto__”.
    const marks = error.message.match(/__\w+?__/g) ?? [];
    assert.ok(
      marks.every((mark) => about.includes(mark)),
      about,
    );
  }
}

/** Anything but a long time, for which a call would wait. */
const soon = anything().filter((value) => !(typeof value === "number" && value > 5));

/** Anything at all, and more often what the functions look at. */
const anyValue = oneof(
  anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withTypedArray: true,
  }),
  constantFrom<unknown>(undefined, null, "", "x", 5, Number.NaN, -1, [], {}, () => undefined, Symbol("s")),
  record(
    Object.fromEntries(
      [
        "transactionReference",
        "customReference1",
        "signal",
        "waitMs",
        "expect",
        "contentType",
        "onWaiting",
        "folder",
      ].map((name) => [name, name === "waitMs" ? soon : anything()]),
    ),
    { requiredKeys: [] },
  ),
);

const anyOptions = (right: object, names: readonly string[]): Arbitrary<unknown> =>
  oneof(
    anyValue,
    record(Object.fromEntries(names.map((name) => [name, anything()])), { requiredKeys: [] }).map(
      (wrong) => ({ ...right, ...wrong }),
    ),
  );

describe("C4: bad input to the library", () => {
  const opened = closesAfterEach();

  it("is ERR_CONFIG where it is an option of a client", () => {
    const device = { address: "127.0.0.1:1" };
    const cloud = { baseUrl: "https://127.0.0.1:1", token: "t" };
    const cases: readonly (readonly [Untyped, readonly unknown[]])[] = [
      [
        (options) => new DeviceClient(options as DeviceClientOptions),
        [
          undefined,
          null,
          5,
          "127.0.0.1",
          [],
          {},
          { address: 5 },
          { address: ["127.0.0.1"] },
          { ...device, generation: null },
          { ...device, queues: {} },
        ],
      ],
      [
        (options) => new CloudClient(options as CloudClientOptions),
        [
          undefined,
          null,
          {},
          { ...cloud, token: 5 },
          { ...cloud, token: null },
          { ...cloud, token: { toString: () => "t" } },
          { ...cloud, baseUrl: new URL("https://127.0.0.1:1") },
          { ...cloud, allowHttp: "yes" },
          { ...cloud, tls: "none" },
          { ...cloud, proxyUrl: "proxy:3128" },
          { ...cloud, proxyUrl: 3128 },
        ],
      ],
    ];
    for (const [create, given] of cases) {
      for (const options of given) {
        const error = caught(() => create(options));
        assert.ok(error instanceof DimensionerError, inspect(options));
        assert.equal(error.code, "ERR_CONFIG", inspect(options));
        assert.equal(error.details.surface, "config");
      }
    }
  });

  it("is ERR_INPUT where it is an argument of a call, and nothing is sent", async () => {
    const server = opened(await startServer((_request, socket) => reply(socket, { status: 404 })));
    const device = opened(new DeviceClient({ address: server.origin }));
    const cloud = opened(new CloudClient({ baseUrl: server.origin, token: "t" }));
    const call = (client: object, name: string, ...given: unknown[]): Promise<unknown> =>
      (Reflect.get(client, name) as Untyped).apply(client, given) as Promise<unknown>;
    const cases: readonly (readonly [object, string, ...unknown[]])[] = [
      [device, "measure", { transactionReference: 5 }],
      [device, "measure", null],
      [device, "measure", ["ORDER-1"]],
      [device, "measure", {}, { signal: "stop" }],
      [device, "startVideo", { customReference3: {} }],
      [device, "stopVideo", { onWaiting: 1 }],
      [device, "image", "photo", "123"],
      [device, "image", "color", 123],
      [device, "video", "copy"],
      [device, "video", "download", { waitMs: "30" }],
      [device, "ping", 5],
      [cloud, "measure", "ABCD2345", 5],
      [cloud, "measure", 5, "ORDER-1"],
      [cloud, "startVideo", "ABCD2345"],
      [cloud, "listMedia", 905_865],
      [cloud, "waitForMedia", "905865", { expect: "image/jpeg" }],
      [cloud, "media", "905865"],
      [cloud, "device", null],
    ];
    for (const [client, name, ...given] of cases) {
      const error = await failureOf(call(client, name, ...given));
      assert.equal(error.code, "ERR_INPUT", `${name} ${inspect(given)}`);
      assert.notEqual(error.details.outcome, "unknown");
    }
    assert.equal(server.requests.length, 0);
  });

  it("is ERR_INPUT for a scan", () => {
    for (const given of [
      [5],
      [undefined],
      ["A", 5],
      ["A", { separator: 5 }],
      ["A", { today: "2026" }],
      ["A", { today: new Date("?") }],
    ]) {
      const error = caught(() => (readScan as Untyped)(...given));
      assert.ok(error instanceof DimensionerError && error.code === "ERR_INPUT", inspect(given));
    }
  });

  it("is ERR_INPUT for a billable weight", () => {
    const rule = { unit: "cm-kg", divisor: 5000 };
    for (const given of [
      [],
      [{}],
      [{}, {}],
      [{}, { rule: "nobody" }],
      [{}, { rule: 5 }],
      [{}, { rule: { ...rule, divisor: 0 } }],
      [{}, { rule: { ...rule, divisor: "5,000" } }],
      [{}, { rule: { ...rule, unit: "mm-g" } }],
      [{}, { rule: { ...rule, sideRounding: "down" } }],
      [{}, { rule: { ...rule, minimum: -1 } }],
      [{}, { rule, weight: "scale" }],
      [{}, { rule, weight: { value: 0, unit: "kg" } }],
      [{}, { rule, weight: { value: 1, unit: "st" } }],
      [{}, { rule, extras: 5 }],
      [{}, { rule, extras: "heavy" }],
      [{}, { rule, requireLegalForTrade: "yes" }],
      [{}, { rule, scan: "scan" }],
      [{}, { rule, today: "2026-11-22" }],
    ]) {
      const error = caught(() => (billableWeight as Untyped)(...given));
      assert.ok(error instanceof DimensionerError && error.code === "ERR_INPUT", inspect(given));
    }
  });

  it("names the option or the argument, and what it must be", async () => {
    const device = opened(new DeviceClient({ address: "127.0.0.1:1" }));
    const measure = device.measure.bind(device) as Untyped;
    const { message } = await failureOf(measure({ transactionReference: 5 }) as Promise<unknown>);
    assert.equal(
      message,
      "“5” is not valid for transactionReference: it must be a string. Nothing was sent.",
    );
    const error = caught(() => new DeviceClient({} as DeviceClientOptions));
    assert.equal(
      error instanceof DimensionerError && error.message,
      "The device option “address” is not valid: it must be a string. Correct it.",
    );
  });

  it("never shows a token", () => {
    for (const token of [{ secret: "s3cr3t" }, ["s3cr3t"], "s3cr3t with spaces"]) {
      const options = { baseUrl: "https://127.0.0.1:1", token } as never as CloudClientOptions;
      const error = caught(() => new CloudClient(options));
      assert.ok(error instanceof DimensionerError);
      assert.ok(!inspect(error, { depth: Infinity, showHidden: true }).includes("s3cr3t"));
    }
  });

  it("is a documented error, whatever it is: of the constructors", () => {
    const device = ["address", "generation", "timeoutMs", "queueLimit", "maxWaitMs", "queues"];
    const cloud = ["baseUrl", "token", "allowHttp", "timeoutMs", "tls", "proxyUrl", "queueLimit", "queues"];
    assertProperty(
      property(
        anyOptions({ address: "127.0.0.1:1" }, device),
        anyOptions({ baseUrl: "https://127.0.0.1:1", token: "t" }, cloud),
        (forDevice, forCloud) => {
          assertDocumented(
            caught(() => new DeviceClient(forDevice as DeviceClientOptions)),
            `DeviceClient(${inspect(forDevice)})`,
          );
          assertDocumented(
            caught(() => new CloudClient(forCloud as CloudClientOptions)),
            `CloudClient(${inspect(forCloud)})`,
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it("is a documented error, whatever it is: of every method and function", async () => {
    const server = opened(await startServer((_request, socket) => reply(socket, { status: 404 })));
    const device = opened(new DeviceClient({ address: server.origin }));
    const cloud = opened(new CloudClient({ baseUrl: server.origin, token: "t" }));
    const methods = [device, cloud].flatMap((client) =>
      Object.getOwnPropertyNames(Object.getPrototypeOf(client))
        .filter(
          (name) => !["constructor", "close", "peer", "canPing", "takesReferences", "clock"].includes(name),
        )
        .map((name) => [name, (Reflect.get(client, name) as Untyped).bind(client)] as const),
    );
    assert.equal(methods.length, 7 + 11);
    const functions = Object.entries({
      billableWeight,
      listFleet,
      readScan,
      readScans,
      readToBuffer,
      readTransactionRecord,
      saveToFile,
    });
    const guards = Object.entries(library).filter(([name]) => /^(?:is|needs)[A-Z]/.test(name));
    const all = [...methods, ...functions, ...guards] as readonly (readonly [string, Untyped])[];
    // They work on whatever folder a text names: the tests of archives and of the command line give them what cannot be right.
    const maintenance = ["pruneArchive", "rebuildIndex", "timestampArchive", "verifyArchive"];
    const archive = [
      ...maintenance,
      "addNumbers",
      "exportPackages",
      "findPackages",
      "holdPackages",
      "listMissing",
      "releasePackages",
    ];
    const exported = Object.entries(library).filter(([, value]) => typeof value === "function");
    const classes = ["CloudClient", "CommandQueues", "DeviceClient", "DimensionerError"];
    assert.deepEqual(
      exported
        .map(([name]) => name)
        .filter((name) => !classes.includes(name))
        .toSorted(),
      [...functions, ...guards]
        .map(([name]) => name)
        .concat(archive)
        .toSorted(),
    );
    await assertProperty(
      asyncProperty(
        constantFrom(...all),
        array(oneof(anyValue, constantFrom("ABCD2345", "1", "color", "download", { folder: tmpdir() })), {
          maxLength: 4,
        }),
        async ([name, act], given) => {
          const end = await Promise.resolve(caught(() => act(...given))).catch((error: unknown) => error);
          assertDocumented(end, `${name}(${inspect(given)})`);
        },
      ),
      { numRuns: 1500 },
    );
  });
});
