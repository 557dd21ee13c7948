import assert from "node:assert/strict";
import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";
import { failsWith } from "../support/failures.ts";
import { deviceCode, token } from "../support/operations.ts";
import { type RawServer, replyJson, startServer } from "../support/servers.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A field on the wire: its value there, and the name and value that it has here where those are others. */
interface Field {
  readonly wire: unknown;
  readonly name?: string;
  readonly value?: unknown;
  /** The answer is none without it. */
  readonly required?: true;
  /** What stands for it where it is missing or null; null otherwise. */
  readonly missing?: unknown;
  /** Nobody has told what it holds: it passes as it came. */
  readonly passes?: true;
}

type Answer = Readonly<Record<string, Field>>;

const object = {
  trackId: 7,
  errorCode: 0,
  errorMessage: "-",
  rotationAngle: 12.5,
  length: 10.3,
  width: 12.1,
  height: 14.5,
};
const guid = "0b5a3c7e-8f5a-4d39-9d1c-0a4f7f2a9c11";

const newer: Answer = {
  transactionReference: { wire: "R1" },
  customReference1: { wire: "A" },
  customReference2: { wire: "" },
  customReference3: { wire: "C" },
  imageIdentifier: { wire: guid },
  elapsedMs: { wire: 498 },
  dateTimeLocal: { wire: "2026-03-01T10:00:00.1234567+01:00" },
  dateTimeUtc: { wire: "2026-03-01T09:00:00.1234567Z" },
  errorCode: { wire: 17, required: true },
  errorMessage: { wire: "-" },
  objectCount: { wire: 1 },
  dimsUnitOfMeasure: { wire: "cm" },
  weightUnitOfMeasure: { wire: "lb" },
  measurementFidelity: { wire: "0.5", value: 0.5 },
  legalForTrade: { wire: false },
  weight: { wire: 2.85 },
  objectId: { wire: "" },
  measuredObjects: { wire: [object], missing: [] },
};

const earlier: Answer = {
  elapsedMilliseconds: { wire: 512, name: "elapsedMs" },
  dateTimeLocal: { wire: "2026-03-01T10:00:00+01:00" },
  dateTimeUtc: { wire: "2026-03-01T09:00:00Z" },
  errorCode: { wire: 4, required: true },
  errorMessage: { wire: "(0) - SUCCESS" },
  objectCount: { wire: 0 },
  unitOfMeasure: { wire: "in", name: "dimsUnitOfMeasure" },
  measurementFidelity: { wire: 0.2 },
  dimensionsLegalForTrade: { wire: true, name: "legalForTrade" },
  imageId: { wire: "img-1", name: "imageIdentifier" },
  measuredObjects: { wire: [object], missing: [] },
  depthImage: { wire: null, passes: true },
  colorImage: { wire: null, passes: true },
  annotatedColorImage: { wire: "what nobody has seen yet", passes: true },
};

const measured: Answer = Object.fromEntries(Object.entries(object).map(([name, wire]) => [name, { wire }]));

const mediaItem: Answer = {
  contentId: { wire: guid, required: true },
  contentType: { wire: "image/jpeg" },
  description: { wire: "DepthImage16Bit" },
};

const deviceClient: Answer = {
  id: { wire: guid, required: true },
  name: { wire: "Dock 4" },
  appVersion: { wire: "5.2.0" },
  terminalId: { wire: 12, value: "12" },
  lastHeartbeatUtc: { wire: "2026-03-01T09:00:00Z" },
  registrationCode: { wire: "ABCD2345" },
};

const terminal: Answer = {
  id: { wire: 12, value: "12", required: true },
  ...Object.fromEntries(
    [
      "name",
      "reference",
      "addressLine1",
      "addressLine2",
      "city",
      "provinceState",
      "country",
      "zipPostalCode",
    ].map((name) => [name, { wire: `a ${name}` }]),
  ),
};

const record: Answer = {
  id: { wire: guid, name: "transactionId", required: true },
  legacyId: { wire: 905865, value: "905865" },
  deviceClientId: { wire: guid },
  errorCode: { wire: 3 },
  errorDescription: { wire: "0-SUCCESS", name: "errorMessage" },
  transactionDateTime: { wire: "2026-03-01T09:00:00Z", name: "dateTimeUtc" },
  elapsedTimeMilliseconds: { wire: 812, name: "elapsedMs" },
  isManualDimension: { wire: true },
  measurementUnitOfMeasureCd: { wire: "cm", name: "dimsUnitOfMeasure" },
  weightUnitOfMeasureCd: { wire: "kg", name: "weightUnitOfMeasure" },
  measurementFidelity: { wire: "0.2", value: 0.2 },
  rotationAngle: { wire: 12.25 },
  length: { wire: 33.5 },
  width: { wire: 21 },
  height: { wire: 12.5 },
  weight: { wire: 2.8 },
  cameraSerialId: { wire: "CAM-1" },
  barcodeReference: { wire: "395212340000004173" },
  customReference1: { wire: "A" },
  customReference2: { wire: "B" },
  customReference3: { wire: "C" },
  transactionReference: { wire: "ORDER-1" },
};

describe("the API, field by field", () => {
  let server: RawServer;
  let answer: unknown;
  let device: DeviceClient;
  let old: DeviceClient;
  let cloud: CloudClient;

  before(async () => {
    server = await startServer((_, socket) => replyJson(socket, answer));
    device = new DeviceClient({ address: server.origin });
    old = new DeviceClient({ address: server.origin, generation: "earlier" });
    cloud = new CloudClient({ baseUrl: server.origin, token });
  });
  after(async () => {
    await Promise.all([device, old, cloud].map((one) => one.close()));
    await server.close();
  });

  /** What a reader makes of an answer of these fields alone. */
  type Read = (fields: Fields) => Promise<Fields | undefined>;

  const asked =
    (call: () => Promise<unknown>, wrap: (fields: Fields) => unknown = (fields) => fields): Read =>
    async (fields) => {
      answer = wrap(fields);
      const value = await call();
      return (Array.isArray(value) ? value[0] : value) as Fields | undefined;
    };
  const resultOf = async (measure: Promise<{ result: Fields }>): Promise<Fields> => (await measure).result;
  const inList = (fields: Fields): unknown => [fields];

  const surfaces: [string, Answer, Read][] = [
    ["newer device, measure", newer, asked(() => resultOf(device.measure()))],
    [
      "newer device, measured object",
      measured,
      asked(
        async () => (await device.measure()).result.measuredObjects,
        (fields) => ({
          errorCode: 0,
          measuredObjects: [fields],
        }),
      ),
    ],
    ["earlier device, measure", earlier, asked(() => resultOf(old.measure()))],
    [
      "earlier device, measured object",
      measured,
      asked(
        async () => (await old.measure()).result.measuredObjects,
        (fields) => ({
          errorCode: 0,
          measuredObjects: [fields],
        }),
      ),
    ],
    [
      "cloud, measure",
      { transactionId: { wire: 905865, value: "905865" }, ...newer },
      asked(() => resultOf(cloud.measure(deviceCode, "R"))),
    ],
    ["cloud, media item", mediaItem, asked(() => cloud.listMedia("1"), inList)],
    ["cloud, device", deviceClient, asked(() => cloud.devices(), inList)],
    ["cloud, terminal", terminal, asked(() => cloud.terminals(), inList)],
    ["webhook, record", record, async (fields) => decodeTransactionRecord(fields)],
  ];

  /** The shape of a result is one for all surfaces, and the cloud's has all of its fields. */
  const ofAnotherSurface = ["newer device, measure", "earlier device, measure"];
  const addedByDecoder = [
    "ok",
    "summary",
    "length",
    "width",
    "height",
    "device",
    "deviceSerialNumber",
    "deviceCertificate",
    "source",
  ];

  for (const [surface, fields, read] of surfaces) {
    const needed = Object.fromEntries(
      Object.entries(fields).flatMap(([name, { required, wire }]) => (required ? [[name, wire]] : [])),
    );
    if (!ofAnotherSurface.includes(surface)) {
      it(`${surface}: every field that comes out is one of these`, async () => {
        const listed = Object.entries(fields).map(([wireName, { name = wireName }]) => name);
        const given = Object.keys((await read(needed)) ?? {});
        assert.ok(given.length > 0);
        assert.deepEqual(
          given.filter((name) => ![...listed, ...addedByDecoder].includes(name)),
          [],
        );
      });
    }

    for (const [wireName, field] of Object.entries(fields)) {
      const { wire, name = wireName, value = wire, missing = null } = field;
      it(`${surface}: ${wireName}`, async () => {
        const given = await read({ ...needed, [wireName]: wire });
        assert.deepEqual(given?.[name], value);
        if (field.required) {
          const without = Object.fromEntries(Object.entries(needed).filter(([other]) => other !== wireName));
          await assert.rejects(
            read(without),
            new RegExp(wireName === "id" ? "id|transactionId" : wireName, "i"),
          );
          return;
        }
        const none = field.passes ? undefined : missing;
        assert.deepEqual((await read(needed))?.[name], none, "where it is missing");
        assert.deepEqual(
          (await read({ ...needed, [wireName]: null }))?.[name],
          field.passes ? null : missing,
        );
      });
    }
  }

  it("an answer without what it has to have is an error, not a result", async () => {
    answer = { objectCount: 1 };
    await failsWith(device.measure(), { code: "ERR_BAD_RESPONSE", outcome: "unknown" });
    answer = [{ contentType: "image/jpeg" }];
    await failsWith(cloud.listMedia("1"), { code: "ERR_BAD_RESPONSE", outcome: null });
  });
});
