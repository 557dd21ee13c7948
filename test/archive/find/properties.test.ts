import assert from "node:assert/strict";
import * as fc from "fast-check";
import {
  compareSides,
  matchTransaction,
  type Candidate,
  type MeasurementSearch,
} from "../../../src/jobs/transactions.ts";
import { measured, otherTag, received, tag } from "./support.ts";

const sizes = [
  [33.5, 21, 12.5],
  [34, 21, 12.5],
  [21, 33.5, 12.5],
] as const;

/** One measurement, and what becomes of its record. */
interface Story {
  readonly reference: number;
  readonly custom: number | null;
  readonly size: number;
  readonly tag: string | null;
  readonly sentS: number;
  readonly delayS: number;
  readonly record: "comes" | "is lost" | "comes twice" | "comes without its custom references";
  readonly isInInches: boolean;
}

const story = fc.record<Story>({
  reference: fc.integer({ min: 1, max: 2 }),
  custom: fc.option(fc.integer({ min: 1, max: 2 })),
  size: fc.nat({ max: sizes.length - 1 }),
  tag: fc.option(fc.constantFrom(tag, otherTag)),
  sentS: fc.integer({ min: 0, max: 20 }),
  delayS: fc.integer({ min: 0, max: 30 }),
  record: fc.constantFrom("comes", "is lost", "comes twice", "comes without its custom references"),
  isInInches: fc.boolean(),
});

/** Two measurements never have the same tag, and one device never two sizes in one place. */
const stories = fc.uniqueArray(story, {
  maxLength: 6,
  selector: ({ tag: one, sentS }) => one ?? `${sentS}`,
});

const toInches = (cm: number): number => Math.round((cm / 2.54) * 100) / 100;

function played(all: readonly Story[]) {
  const soughts: MeasurementSearch[] = [];
  const records: Candidate[] = [];
  for (const [index, one] of all.entries()) {
    const references = {
      transactionReference: `ORDER-${one.reference}`,
      customReference1: one.custom === null ? null : `PIECE-${one.custom}`,
      customReference2: one.tag,
    };
    const size = sizes[one.size] ?? sizes[0];
    const own = one.tag === null ? {} : { tag: one.tag };
    soughts.push(measured(String(index), one.sentS, { ...references, ...own, size }));
    const [length, width, height] = size;
    const inInches = [toInches(length), toInches(width), toInches(height)] as const;
    const sent =
      one.record === "comes without its custom references"
        ? { transactionReference: references.transactionReference }
        : references;
    const record = received(String(index), one.sentS + one.delayS, {
      ...sent,
      ...(one.isInInches ? { size: inInches, unit: "in" } : { size }),
    });
    const copies = { comes: 1, "is lost": 0, "comes twice": 2, "comes without its custom references": 1 };
    records.push(...Array.from({ length: copies[one.record] }, () => record));
  }
  return { soughts, records };
}

/** A rounded inch can be either of two sizes that are one step apart. */
const isSameSize = ({ local: { figures } }: MeasurementSearch, { record }: Candidate): boolean => {
  const { length, width, height, dimsUnitOfMeasure: dimsUnit, measurementFidelity: step } = record;
  const others = { ...figures, length, width, height, dimsUnit, step };
  return compareSides(figures, others, true) !== "different";
};

describe("local measurements and the webhook's records", () => {
  it("never gives a record to two measurements, nor one of other dimensions, whatever is looked at first", () => {
    fc.assert(
      fc.property(stories, fc.infiniteStream(fc.nat()), (all, order) => {
        const { soughts, records } = played(all);
        let [open, free] = [soughts, records];
        const given = new Map<string, string>();
        for (const pick of order) {
          const sought = open[pick % Math.max(open.length, 1)];
          if (sought === undefined) {
            break;
          }
          open = open.filter((one) => one !== sought);
          const match = matchTransaction(sought, open, free);
          if (match.kind === "one") {
            const { transactionId } = match.candidate.record;
            assert.ok(!given.has(transactionId));
            assert.ok(isSameSize(sought, match.candidate));
            given.set(transactionId, sought.key);
            free = free.filter(({ record }) => record.transactionId !== transactionId);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it("is never wrong while all measurements are known whose records have come", () => {
    fc.assert(
      fc.property(stories, (all) => {
        // Records without what was sent look like those of other measurements that did not send it.
        const whole = all.filter(({ record }) => record !== "comes without its custom references");
        const { soughts, records } = played(whole);
        for (const sought of soughts) {
          const match = matchTransaction(sought, soughts, records);
          if (match.kind === "one") {
            assert.equal(match.candidate.record.transactionId, sought.key);
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it("finds every transaction where each measurement has a tag and no record is lost", () => {
    fc.assert(
      fc.property(stories, (all) => {
        const tagged = all.filter((one) => one.tag !== null && /^comes(?: twice)?$/.test(one.record));
        const { soughts, records } = played(tagged);
        for (const sought of soughts) {
          const match = matchTransaction(sought, soughts, records);
          assert.equal(match.kind === "one" ? match.candidate.record.transactionId : match.kind, sought.key);
        }
      }),
    );
  });
});
