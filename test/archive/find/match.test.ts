import assert from "node:assert/strict";
import { matchTransaction, type Candidate, type MeasurementSearch } from "../../../src/jobs/transactions.ts";
import { box, measured, otherTag, received, tag } from "./support.ts";

interface Case {
  readonly title: string;
  readonly sought: MeasurementSearch;
  /** Measurements of other open jobs. */
  readonly others?: readonly MeasurementSearch[];
  readonly records: readonly Candidate[];
  /** The id of the transaction, or why there is none. */
  readonly expected: string;
}

const hourS = 3600;
const minuteS = 60;
const otherBox = [40, 30, 20] as const;
const tagged = measured("A", 0, { tag, customReference2: tag });

const byReference: readonly Case[] = [
  {
    title: "the record came while the device was still answering",
    sought: measured("A", 0),
    records: [received("1", 0.4)],
    expected: "1",
  },
  {
    title: "the record came seconds after the measurement",
    sought: measured("A", 0),
    records: [received("1", 3)],
    expected: "1",
  },
  {
    title: "the record came almost an hour after the measurement",
    sought: measured("A", 0),
    records: [received("1", 0.99 * hourS)],
    expected: "1",
  },
  {
    title: "the record came more than an hour after the measurement",
    sought: measured("A", 0),
    records: [received("1", 1.01 * hourS)],
    expected: "none of 1",
  },
  { title: "no record has come", sought: measured("A", 0), records: [], expected: "none of 0" },
  {
    title: "the record was there before the measure was sent: it is that of an earlier one",
    sought: measured("A", 10),
    records: [received("1", 9.9)],
    expected: "none of 1",
  },
  {
    title: "the record was posted twice",
    sought: measured("A", 0),
    records: [received("1", 3), received("1", 4)],
    expected: "1",
  },
  {
    title: "the record was posted in both versions, the older one first",
    sought: measured("A", 0),
    records: [
      received("905865", 3),
      received("5F1C0D3E-0000-4000-8000-000000000001", 4, { legacyId: "905865" }),
    ],
    expected: "905865",
  },
  {
    title: "another parcel of the order, measured within a second, has other dimensions",
    sought: measured("A", 0),
    others: [measured("B", 0.5, { size: otherBox })],
    records: [received("2", 3, { size: otherBox }), received("1", 3.2)],
    expected: "1",
  },
  {
    title:
      "another parcel of the order, measured within a second, has the same dimensions and another weight",
    sought: measured("A", 0),
    others: [measured("B", 0.5, { weight: 3 })],
    records: [received("2", 3, { weight: 3 }), received("1", 3.2)],
    expected: "1",
  },
  {
    title: "another parcel of the order, measured within a second, is equal in all: both records are there",
    sought: measured("A", 0),
    others: [measured("B", 0.5)],
    records: [received("2", 3), received("1", 3.2)],
    expected: "several of 2",
  },
  {
    title: "another parcel of the order, measured within a second, is equal in all: one record is there",
    sought: measured("A", 0),
    others: [measured("B", 0.5)],
    records: [received("2", 3)],
    expected: "contested",
  },
  {
    title: "another parcel of the order has a custom reference of its own",
    sought: measured("A", 0, { customReference1: "1 of 2" }),
    others: [measured("B", 0.5, { customReference1: "2 of 2" })],
    records: [
      received("2", 3, { customReference1: "2 of 2" }),
      received("1", 3.2, { customReference1: "1 of 2" }),
    ],
    expected: "1",
  },
  {
    title: "a record with a custom reference that was not sent is another parcel's",
    sought: measured("A", 0),
    records: [received("2", 3, { customReference1: "2 of 2" })],
    expected: "none of 1",
  },
  {
    title: "the device drops custom references",
    sought: measured("A", 0, { customReference1: "1 of 2" }),
    records: [received("1", 3)],
    expected: "1",
  },
  {
    title: "a record that has all references is better than one that lacks some",
    sought: measured("A", 0, { customReference1: "1 of 2" }),
    records: [received("2", 3), received("1", 4, { customReference1: "1 of 2" })],
    expected: "1",
  },
  {
    title: "only a custom reference was sent",
    sought: measured("A", 0, { transactionReference: null, customReference3: "LOT-7" }),
    records: [
      received("2", 3, { transactionReference: null }),
      received("1", 4, { transactionReference: null, customReference3: "LOT-7" }),
    ],
    expected: "1",
  },
  {
    title: "nothing was sent by which it could be told from others",
    sought: measured("A", 0, { transactionReference: null }),
    records: [received("2", 3, { transactionReference: null })],
    expected: "none of 1",
  },
  {
    title: "remeasured: only the first record is there when the second measurement is archived",
    sought: measured("B", 10),
    records: [received("1", 3)],
    expected: "none of 1",
  },
  {
    title: "remeasured: the first measurement's job runs when both records are there",
    sought: measured("A", 0),
    others: [measured("B", 10)],
    records: [received("1", 3), received("2", 13)],
    expected: "1",
  },
  {
    title: "remeasured: the second measurement's job runs when both records are there",
    sought: measured("B", 10),
    others: [measured("A", 0)],
    records: [received("1", 3), received("2", 13)],
    expected: "2",
  },
  {
    title: "remeasured: the first record is late, and only the second one is there",
    sought: measured("A", 0),
    others: [measured("B", 10)],
    records: [received("2", 13)],
    expected: "contested",
  },
  {
    title: "remeasured: the first record is late, so that either can be of either",
    sought: measured("A", 0),
    others: [measured("B", 10)],
    records: [received("2", 13), received("1", 14)],
    expected: "several of 2",
  },
  {
    title: "remeasured with other dimensions: the first record is late",
    sought: measured("A", 0),
    others: [measured("B", 10, { size: otherBox })],
    records: [received("2", 13, { size: otherBox }), received("1", 14)],
    expected: "1",
  },
  {
    title: "measured three times, and the record in the middle is missing",
    sought: measured("C", 20),
    others: [measured("A", 0), measured("B", 10)],
    records: [received("1", 3), received("3", 23)],
    expected: "contested",
  },
  {
    title: "two records fit, and no other measurement is known",
    sought: measured("A", 0),
    records: [received("1", 3), received("2", 13)],
    expected: "several of 2",
  },
];

const byFigures: readonly Case[] = [
  {
    title: "other dimensions by one step of the device",
    sought: measured("A", 0),
    records: [received("1", 3, { size: [34, 21, 12.5] })],
    expected: "none of 1",
  },
  {
    title: "values of the cloud's simulation mode",
    sought: measured("A", 0),
    records: [received("1", 3, { size: [17.3, 88.1, 4.2], weight: 19.4 })],
    expected: "none of 1",
  },
  {
    title: "cm on the device, inches in the cloud, rounded there to its own step",
    sought: measured("A", 0),
    records: [received("1", 3, { size: [13, 8.5, 5], unit: "in", weight: 2.8, weightUnit: "lb" })],
    expected: "1",
  },
  {
    title: "cm on the device, inches in the cloud with decimals",
    sought: measured("A", 0),
    records: [received("1", 3, { size: [13.19, 8.27, 4.92], unit: "in", weight: 2.8, weightUnit: "lb" })],
    expected: "1",
  },
  {
    title: "inches in the cloud that are another parcel's",
    sought: measured("A", 0),
    records: [received("1", 3, { size: [13.9, 8.27, 4.92], unit: "in" })],
    expected: "none of 1",
  },
  {
    title: "millimetres in the cloud",
    sought: measured("A", 0),
    records: [received("1", 3, { size: [335, 210, 125], unit: "mm", step: 5 })],
    expected: "1",
  },
  {
    title: "the cloud sorts the sides",
    sought: measured("A", 0, { size: [21, 33.5, 12.5] }),
    records: [received("1", 3)],
    expected: "1",
  },
  {
    title: "of a parcel that was measured in two positions, the record with the same sides",
    sought: measured("A", 0, { size: [21, 33.5, 12.5] }),
    records: [received("2", 3), received("1", 4, { size: [21, 33.5, 12.5] })],
    expected: "1",
  },
  {
    title: "no scale: no weight on the device, 0 in the cloud",
    sought: measured("A", 0, { weight: null }),
    records: [received("1", 3, { weight: 0 })],
    expected: "1",
  },
  {
    title: "the record does not know a weight",
    sought: measured("A", 0),
    records: [received("1", 3, { weight: 0 })],
    expected: "1",
  },
  {
    title: "another weight",
    sought: measured("A", 0),
    records: [received("1", 3, { weight: 1.4 })],
    expected: "none of 1",
  },
  {
    title: "a unit that nobody knows says nothing of the dimensions",
    sought: measured("A", 0),
    records: [received("1", 3, { unit: "ell" })],
    expected: "none of 1",
  },
  ...["inch", "ell"].map((unit) => ({
    title: `both say “${unit}”`,
    sought: measured("A", 0, { unit }),
    records: [received("2", 2, { unit, size: otherBox }), received("1", 3, { unit })],
    expected: "1",
  })),
  {
    title: "one says “in”, and the other “Inches”",
    sought: measured("A", 0, { unit: "Inches" }),
    records: [received("1", 3, { unit: "in" })],
    expected: "1",
  },
  {
    title: "several objects have no dimensions that one record could have",
    sought: measured("A", 0, { size: null }),
    records: [received("1", 3)],
    expected: "none of 1",
  },
  {
    title: "a failed measurement has a failed record",
    sought: measured("A", 0, { ok: false, size: null, weight: 0 }),
    records: [received("2", 2), received("1", 3, { size: [0, 0, 0], weight: 0, errorCode: 1 })],
    expected: "1",
  },
  {
    title: "a measurement that went well has no failed record",
    sought: measured("A", 0),
    records: [received("1", 3, { errorCode: 1 })],
    expected: "none of 1",
  },
];

const byClock: readonly Case[] = [
  {
    title: "the cloud's clock is an hour ahead of the device's",
    sought: measured("A", 0, { deviceUtcTime: "2026-11-22T09:00:00.512Z" }),
    records: [received("1", 3, { dateTimeUtc: "2026-11-22T10:00:01.020Z" })],
    expected: "1",
  },
  {
    title: "the device's clock is years behind",
    sought: measured("A", 0, { deviceUtcTime: "2000-01-01T00:00:00.512Z" }),
    records: [received("1", 3, { dateTimeUtc: "2026-11-22T09:00:01.020Z" })],
    expected: "1",
  },
  {
    title: "of two equal ones, the record that has the device's own time to the millisecond",
    sought: measured("A", 0, { deviceUtcTime: "2026-11-22T09:00:00.512Z" }),
    others: [measured("B", 1, { deviceUtcTime: "2026-11-22T09:00:01.207Z" })],
    records: [
      received("2", 3, { dateTimeUtc: "2026-11-22T09:00:01.207Z" }),
      received("1", 3.2, { dateTimeUtc: "2026-11-22T09:00:00.5121234Z" }),
    ],
    expected: "1",
  },
  {
    title: "of two equal ones, times in whole seconds that agree by chance decide nothing",
    sought: measured("A", 0, { deviceUtcTime: "2026-11-22T09:00:05.000Z" }),
    others: [measured("B", 1, { deviceUtcTime: "2026-11-22T09:00:10.000Z" })],
    records: [
      received("1", 3, { dateTimeUtc: "2026-11-22T09:00:00.000Z" }),
      received("2", 3.2, { dateTimeUtc: "2026-11-22T09:00:05.000Z" }),
    ],
    expected: "several of 2",
  },
];

const byTag: readonly Case[] = [
  {
    title: "the tag decides between two equal parcels",
    sought: tagged,
    others: [measured("B", 0.5, { tag: otherTag, customReference2: otherTag })],
    records: [
      received("2", 3, { customReference2: otherTag }),
      received("1", 3.2, { customReference2: tag }),
    ],
    expected: "1",
  },
  {
    title: "the tag is in another field than it was sent in",
    sought: tagged,
    records: [received("1", 3, { customReference1: tag })],
    expected: "1",
  },
  {
    title: "the tag is in the transaction reference",
    sought: tagged,
    records: [received("1", 3, { transactionReference: tag })],
    expected: "1",
  },
  {
    title: "the record with the tag comes hours later",
    sought: tagged,
    records: [received("1", 30 * hourS, { customReference2: tag })],
    expected: "1",
  },
  {
    title: "the clock was put back between the measurement and its record",
    sought: tagged,
    records: [received("1", -hourS, { customReference2: tag })],
    expected: "1",
  },
  {
    title: "the cloud has rounded the dimensions once more",
    sought: tagged,
    records: [received("1", 3, { customReference2: tag, size: [34, 21, 13], step: 1 })],
    expected: "1",
  },
  {
    title: "a record with the tag and other dimensions is that of a later measurement",
    sought: tagged,
    records: [received("2", 3, { customReference2: tag, size: otherBox })],
    expected: "none of 1",
  },
  {
    title: "the device has repeated the tag in a later measurement of another parcel",
    sought: tagged,
    records: [
      received("2", 5, { customReference2: tag, size: otherBox }),
      received("1", 3, { customReference2: tag }),
    ],
    expected: "1",
  },
  {
    title: "two equal records have the tag",
    sought: tagged,
    records: [received("1", 3, { customReference2: tag }), received("2", 5, { customReference2: tag })],
    expected: "several of 2",
  },
  {
    title: "the tag was lost: references and dimensions decide",
    sought: tagged,
    records: [received("1", 3)],
    expected: "1",
  },
  {
    title: "the tag was lost, and another record fits too",
    sought: tagged,
    records: [received("1", 3), received("2", 2 * minuteS)],
    expected: "several of 2",
  },
  {
    title: "a record that carries another measurement's tag",
    sought: tagged,
    records: [received("2", 3, { customReference2: otherTag })],
    expected: "none of 1",
  },
  {
    title: "a measurement without a tag leaves the record of one with a tag",
    sought: measured("A", 0),
    others: [measured("B", 0.5, { tag, customReference2: tag })],
    records: [received("2", 3, { customReference2: tag }), received("1", 3.2)],
    expected: "1",
  },
  {
    title: "several objects, and the tag",
    sought: measured("A", 0, { tag, customReference2: tag, size: null }),
    records: [received("2", 2), received("1", 3, { customReference2: tag, size: box })],
    expected: "1",
  },
  {
    title: "the tag, and the cloud calls a measurement a success that the device calls a failure",
    sought: measured("A", 0, { tag, customReference2: tag, ok: false, size: null }),
    records: [received("1", 3, { customReference2: tag })],
    expected: "1",
  },
  {
    title: "the tag, and the cloud calls a measurement a failure that the device calls a success",
    sought: tagged,
    records: [received("1", 3, { customReference2: tag, size: [0, 0, 0], errorCode: 4 })],
    expected: "1",
  },
  {
    title: "the device has repeated the tag of a failed measurement in one that went well",
    sought: measured("A", 0, { tag, customReference2: tag, ok: false, size: null }),
    records: [
      received("2", 5, { customReference2: tag }),
      received("1", 3, { customReference2: tag, size: [0, 0, 0], errorCode: 4 }),
    ],
    expected: "1",
  },
];

function answer({ sought, others = [], records }: Case): string {
  const match = matchTransaction(sought, others, records);
  switch (match.kind) {
    case "one":
      return match.candidate.record.transactionId;
    case "none":
      return `none of ${match.alike}`;
    case "several":
      return `several of ${match.count}`;
    case "contested":
      return "contested";
  }
}

for (const [how, cases] of Object.entries({ byReference, byFigures, byClock, byTag })) {
  describe(`a local measurement's transaction (${how.slice(2).toLowerCase()})`, () => {
    for (const one of cases) {
      it(`${one.title}: ${one.expected}`, () => {
        assert.equal(answer(one), one.expected);
        const turned = { ...one, others: one.others?.toReversed() ?? [], records: one.records.toReversed() };
        assert.equal(answer(turned), one.expected, "in whatever order they are read");
      });
    }
  });
}
