import {
  type Condition,
  type Database,
  type Row,
  type Statement,
  fromPackagesWithTriples,
  hasSearchText,
  reachOfTriples,
  allOf,
  oneOf,
} from "../database/database.ts";
import { intents, lengthOf, withTexts } from "../database/long-texts.ts";
import { isPinned, isOpen } from "../database/own-jobs.ts";
import { indexedText } from "../database/schema.ts";
import type { Period } from "../rules/periods.ts";
import {
  type Mark,
  foldText,
  marks,
  partOfWord,
  partsOfTime,
  shortestPart,
  soughtWords,
  timeMarks,
  tripleOfMark,
  triplesIn,
  wholeWord,
  withoutAccents,
  wordsOf,
} from "../rules/search-words.ts";
import { dayMs } from "../time/clocks.ts";
import { lengthNames, weightNames } from "../rules/units.ts";
import { usualWork } from "../rules/works.ts";
import { namedOf } from "../vault/log/log-state.ts";
import { readIntent } from "../vault/packages/intent.ts";
import { type IndexedPackage, readIndexed, grams, millimetres } from "../vault/packages/package-index.ts";

/**
 * A search in the index. A reference, barcode or ID is looked up as a whole (a reference also as a number that was added later), a text as a part: each of its words has to be in one
 * of them. Neither depends on how a character is encoded, nor on capital and small letters.
 */
export type Query =
  | LookUp
  | { readonly by: "text"; readonly value: string }
  | { readonly by: "period"; readonly period: Period }
  | { readonly by: "size"; readonly sizes: readonly SoughtSize[] }
  | { readonly by: "all" };

interface LookUp {
  readonly by: "reference" | "transactionId" | "barcode" | "packageId";
  readonly value: string;
}

/** What else has to be true of the packages that are found. */
export interface Filter {
  /** As the packages have it. */
  readonly device?: string | undefined;
  readonly work?: string | undefined;
  /** When they were archived. */
  readonly period?: Period | undefined;
  readonly marks?: readonly Mark[] | undefined;
  /** Where they are: one of these folders below that of the packages. */
  readonly locations?: readonly string[] | undefined;
}

const references = [
  "transaction_reference",
  "custom_reference_1",
  "custom_reference_2",
  "custom_reference_3",
] as const;

/** The columns of each kind of look-up; an index leads to each of them. */
const columnsOf = {
  reference: references,
  transactionId: ["transaction_id"],
  barcode: ["barcode_reference", "scan"],
  packageId: ["package_id"],
} as const;

/**
 * So many of the newest packages are looked at one by one, and so many matches of a text are sorted. What is rare is found in the index,
 * and what is frequent soon among the newest.
 */
const mostWalked = 1_000;
const mostSorted = 1_000;
const shortPeriodMs = 93 * dayMs;
/** How many packages with the words of a reference are looked at, or as many as are asked for. */
const mostFolded = 200;
/** More folders are not asked for in one statement, nor more packages of a size sorted. */
const mostLocations = 10_000;

/** Looks up packages in the index of a store, the newest first; of a text, those first that have exactly its words. */
export async function searchIndex(
  database: Pick<Database, "transaction">,
  query: Query,
  limit: number,
  filter: Filter = {},
): Promise<readonly IndexedPackage[]> {
  const rows = await search(database, query, limit, filter);
  return rows.map(readIndexed);
}

async function search(
  database: Pick<Database, "transaction">,
  query: Query,
  limit: number,
  filter: Filter,
): Promise<readonly Row[]> {
  switch (query.by) {
    case "all":
      return findNewest(database, { filter }, limit);
    case "period":
      return filter.period === undefined
        ? findNewest(database, { filter: { ...filter, period: query.period } }, limit)
        : findNewest(database, { filter, more: [during(query.period)] }, limit);
    case "size":
      return findNewest(database, { filter, anyOf: query.sizes.map(conditionOf) }, limit);
    case "text": {
      const words = wordsOf(query.value);
      if (words.length === 0) {
        return [];
      }
      const found = await findNewest(database, { filter, texts: words.map(partOfWord) }, limit);
      // What has accents in an order may have none on its label.
      const plain = words.map(withoutAccents).join(" ");
      if (found.length === 0 && plain !== words.join(" ")) {
        return search(database, { by: "text", value: plain }, limit, filter);
      }
      const whole = words.map(wholeWord);
      const isExact = (row: Row): boolean =>
        whole.every((text) => String(row["search_words"]).includes(text));
      const exact =
        found.length < limit
          ? found.filter(isExact)
          : await findNewest(database, { filter, texts: whole }, limit);
      return together(exact, found, limit);
    }
    default:
      return lookUp(database, query, limit, filter);
  }
}

function together(first: readonly Row[], then: readonly Row[], limit: number): readonly Row[] {
  const seen = new Set(first.map((row) => row["package_id"]));
  return [...first, ...then.filter((row) => !seen.has(row["package_id"] ?? null))].slice(0, limit);
}

const newestFirst = "ORDER BY archived_at DESC, package_id DESC LIMIT ?";

/**
 * Finds packages of which one of some columns has this value. Each part of the statement is answered by an index; an OR over several
 * columns would read the whole table. How else the value may have been written, its words say.
 */
async function lookUp(
  database: Pick<Database, "transaction">,
  { by, value }: LookUp,
  limit: number,
  filter: Filter,
): Promise<readonly Row[]> {
  const columns = columnsOf[by];
  const only = conditionsOf(filter);
  const parts = columns.flatMap((column) =>
    spellings(value).map((spelled) => {
      const where = allOf({ sql: `${column} = ?`, values: [spelled] }, ...only);
      return {
        sql: `SELECT indexed_order, archived_at FROM (SELECT indexed_order, archived_at FROM packages
          WHERE ${where.sql} ORDER BY archived_at DESC LIMIT ?) AS ranged`,
        values: [...where.values, limit],
      };
    }),
  );
  const found = await select(database, {
    sql: `SELECT * FROM packages WHERE indexed_order IN (SELECT indexed_order FROM
      (${parts.map(({ sql }) => sql).join(" UNION ")}) AS found ORDER BY archived_at DESC LIMIT ?) ${newestFirst}`,
    values: [...parts.flatMap(({ values }) => values), limit, limit],
  });
  const words = by === "packageId" ? [] : wordsOf(value);
  if (words.length === 0) {
    return found;
  }
  const folded = wordsOf(indexedText(value)).join(" ");
  // Those that are written in another way may be newer than all that are written like this.
  const most = Math.max(limit, mostFolded);
  const others = await findNewest(database, { filter, texts: words.map(wholeWord) }, most);
  const isFolded = (text: unknown): boolean =>
    typeof text === "string" && wordsOf(indexedText(text)).join(" ") === folded;
  const named = await namedOf(
    database,
    by === "reference" ? others.filter(hasNumbers).map((row) => String(row["package_id"])) : [],
  );
  const isSame = (row: Row): boolean =>
    columns.some((column) => isFolded(row[column])) ||
    (named.get(String(row["package_id"])) ?? []).some(({ number }) => isFolded(number));
  const all = together(found, others.filter(isSame), found.length + most);
  return all.toSorted((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1)).slice(0, limit);
}

function hasNumbers(row: Row): boolean {
  return row["added_words"] !== "";
}

function timeOf(row: Row): string {
  return `${String(row["archived_at"])} ${String(row["package_id"])}`;
}

/**
 * References are usually printed in capital letters, and typed in small ones. Spaces around one are of a column of fixed
 * width, or were typed by mistake. The index has the beginning of long ones.
 */
function spellings(value: string): readonly string[] {
  const spelled = [value, value.trim()].flatMap((one) => [one, one.toUpperCase(), one.toLowerCase()]);
  return [...new Set(spelled.map((one) => indexedText(one)))];
}

/** Which packages are wanted: those for which all of this is true. */
interface Wanted {
  readonly filter: Filter;
  /** Texts that their search words have. */
  readonly texts?: readonly string[];
  /** One of these; an index answers each of them. */
  readonly anyOf?: readonly Condition[];
  readonly more?: readonly Condition[];
}

/**
 * Finds the newest of the packages that are wanted, whether these are three or half of a million: first among the newest of all, then by
 * an index of what is wanted, whose matches are sorted. If these are too many, the same is done month by month and day by day.
 */
async function findNewest(
  database: Pick<Database, "transaction">,
  { filter, texts = [], anyOf = [], more = [] }: Wanted,
  limit: number,
): Promise<readonly Row[]> {
  const { marks: which = [], period, device, work, locations } = filter;
  const words = [...texts, ...which.map((mark) => wholeWord(marks[mark]))];
  // The newest of a device or of a kind of work are among the newest of its own index, however rare these are. The usual work has none.
  const isUsual = work === usualWork;
  const always = conditionsOf({ device, period, work: isUsual ? undefined : work });
  const wanted = [
    ...words.map((text) => ({ sql: hasSearchText, values: [text] })),
    ...conditionsOf({ locations, work: isUsual ? work : undefined }),
    ...more,
    ...(anyOf.length === 0 ? [] : [oneOfThese(anyOf)]),
  ];
  const indexed = locations !== undefined || anyOf.length > 0 || words.length > 0;
  // Sorting what another index finds could take much longer than going through the newest.
  const walked = indexed ? wanted.map(unindexed) : wanted;
  const walk = (range: readonly Condition[], most: number): Promise<readonly Row[]> => {
    const where = allOf(...always, ...range, ...walked);
    const sql = `SELECT * FROM packages WHERE ${where.sql} ${newestFirst}`;
    return select(database, { sql, values: [...where.values, most] });
  };
  /** The time of a package that has so many newer ones. */
  const timeBehind = async (newer: number, range: readonly Condition[] = []): Promise<string | undefined> => {
    const where = allOf(...always, ...range);
    const sql = `SELECT archived_at FROM packages WHERE ${where.sql} ORDER BY archived_at DESC LIMIT 1 OFFSET ?`;
    const [row] = await select(database, { sql, values: [...where.values, newer] });
    return row === undefined ? undefined : String(row["archived_at"]);
  };
  if (!indexed) {
    return walk([], limit);
  }
  const horizon = await timeBehind(mostWalked);
  const recent = await walk(horizon === undefined ? [] : [notBefore(horizon)], limit);
  if (horizon === undefined || recent.length === limit) {
    return recent;
  }
  if (locations !== undefined || anyOf.length > 0) {
    const parts = locations === undefined ? anyOf : [inLocations(locations)];
    const found = await database.transaction(
      parts.map((part) => {
        const where = allOf(part, ...always, ...wanted);
        const sql = `SELECT indexed_order, archived_at, package_id FROM packages WHERE ${where.sql} LIMIT ?`;
        return { sql, values: [...where.values, mostLocations + 1] };
      }),
    );
    return found.some((rows) => rows.length > mostLocations)
      ? [...recent, ...(await walk([before(horizon)], limit - recent.length))]
      : readNewest(database, found.flat(), limit);
  }
  const triples = [
    ...(texts.length === 0 ? [] : await rareTriples(database, triplesIn(texts))),
    ...which.map((mark) => tripleOfMark(marks[mark])),
  ];
  /** Undefined if there are too many. */
  const gather = async (
    also: readonly string[],
    range: readonly Condition[],
  ): Promise<readonly Row[] | undefined> => {
    // By the index of times, PostgreSQL would find the whole month, too.
    const where = allOf(...[...always, ...range].map(unindexed), ...wanted);
    const sql = `SELECT indexed_order, archived_at, package_id ${fromPackagesWithTriples} AND ${where.sql} LIMIT ?`;
    const values = [[...triples, ...also].join(" "), ...where.values, mostSorted + 1];
    const found = await select(database, { sql, values });
    return found.length > mostSorted ? undefined : found;
  };
  // The months of a short period are looked through one by one at once: what is frequent may be all before or after it.
  const isShort = period !== undefined && Date.parse(period.to) - Date.parse(period.from) <= shortPeriodMs;
  const everything = isShort ? undefined : await gather([], []);
  if (everything !== undefined) {
    return readNewest(database, everything, limit);
  }
  const found = [...recent];
  const [ofMonth, ofDay] = partsOfTime;
  /** Adds what was archived in this time, by months, and those with too many matches by days. */
  const add = async (from: string, to: string, part: number): Promise<void> => {
    for (let upper = to; found.length < limit;) {
      const newest = await timeBehind(0, [notBefore(from), before(upper)]);
      if (newest === undefined) {
        return;
      }
      const slice = newest.slice(0, part);
      const range = [notBefore(slice), before(upper)];
      const rows = await gather(timeMarks(slice).map(tripleOfMark), range);
      const left = limit - found.length;
      if (rows !== undefined) {
        found.push(...(await readNewest(database, rows, left)));
      } else if (part === ofMonth) {
        await add(slice, upper, ofDay);
      } else {
        found.push(...(await walk(range, left)));
      }
      upper = slice;
    }
  };
  await add("", horizon, ofMonth);
  return found;
}

/** So many triples are looked for in any case, and so many if a hundred packages that have one are among so many. */
const [leastRare, mostRare, rareReach] = [3, 8, 2_000];

/** Chooses the triples that lead to the fewest packages: to intersect those of a frequent one takes as long as it has packages. */
async function rareTriples(
  database: Pick<Database, "transaction">,
  triples: readonly string[],
): Promise<readonly string[]> {
  const rows = await select(database, { sql: reachOfTriples, values: [JSON.stringify(triples)] });
  if (rows.length === 0) {
    return triples;
  }
  const reaches = new Map(rows.map(({ triple, reach }) => [triple, Number(reach ?? Infinity)]));
  const rarestFirst = triples
    .map((triple) => ({ triple, reach: reaches.get(triple) ?? Infinity }))
    .toSorted((one, other) => (one.reach === other.reach ? 0 : other.reach - one.reach));
  return rarestFirst
    .slice(0, mostRare)
    .filter(({ reach }, place) => place < leastRare || reach >= rareReach)
    .map(({ triple }) => triple);
}

/** Reads the newest of some rows as a whole. */
async function readNewest(
  database: Pick<Database, "transaction">,
  rows: readonly Row[],
  limit: number,
): Promise<readonly Row[]> {
  const newest = [...new Map(rows.map((row) => [row["indexed_order"], row])).values()]
    .toSorted((one, other) => (timeOf(one) < timeOf(other) ? 1 : -1))
    .slice(0, limit);
  if (newest.length === 0) {
    return [];
  }
  const these = oneOf(
    "indexed_order",
    newest.map((row) => row["indexed_order"] ?? null),
  );
  const sql = `SELECT * FROM packages WHERE ${these.sql} ${newestFirst}`;
  return select(database, { sql, values: [...these.values, limit] });
}

function unindexed(one: Condition): Condition {
  return { ...one, sql: `CASE WHEN ${one.sql} THEN 1 ELSE 0 END = 1` };
}

function before(time: string): Condition {
  return { sql: "archived_at < ?", values: [time] };
}

function notBefore(time: string): Condition {
  return { sql: "archived_at >= ?", values: [time] };
}

function inLocations(locations: readonly string[]): Condition {
  return oneOf("location", locations.slice(-mostLocations));
}

function conditionsOf({ device, work, period, marks: which = [], locations }: Filter): Condition[] {
  return [
    ...which.map((mark) => ({ sql: hasSearchText, values: [wholeWord(marks[mark])] })),
    ...(device === undefined ? [] : [{ sql: "device = ?", values: [device] }]),
    ...(work === undefined
      ? []
      : [
          work === usualWork
            ? { sql: "work IS NULL", values: [] }
            : { sql: "work = ?", values: [indexedText(work)] },
        ]),
    ...(period === undefined ? [] : [during(period)]),
    ...(locations === undefined ? [] : [inLocations(locations)]),
  ];
}

function during({ from, to }: Period): Condition {
  return { sql: "archived_at >= ? AND archived_at < ?", values: [from, to] };
}

function oneOfThese(conditions: readonly Condition[]): Condition {
  return {
    sql: conditions.map(({ sql }) => `(${sql})`).join(" OR "),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** The values of two sides are listed, so that the index leads to each pair; a range of the first would read all others. */
function conditionOf({ sides, weight }: SoughtSize): Condition {
  const parts: Condition[] = [];
  if (sides !== null) {
    const [longest, middle, shortest] = sides;
    parts.push(oneOf("longest_mm", valuesOf(longest)), oneOf("middle_mm", valuesOf(middle)));
    parts.push(between("shortest_mm", shortest));
  }
  if (weight !== null) {
    parts.push(between("weight_g", weight));
  }
  return allOf(...parts);
}

function valuesOf({ from, to }: Range): number[] {
  return Array.from({ length: to - from + 1 }, (_, place) => from + place);
}

function between(column: string, { from, to }: Range): Condition {
  return { sql: `${column} BETWEEN ? AND ?`, values: [from, to] };
}

async function select(
  database: Pick<Database, "transaction">,
  statement: Statement,
): Promise<readonly Row[]> {
  const [rows = []] = await database.transaction([statement]);
  return rows;
}

/** The most devices that a list is made of. */
const mostValues = 100;

/** The names of the devices that packages have, in their order; an index has each of them beside itself. */
export function listDevices(database: Pick<Database, "transaction">): Promise<readonly string[]> {
  return listValues(database, "device");
}

/** The kinds of work that packages have, in their order, but for the usual one. */
export function listWorks(database: Pick<Database, "transaction">): Promise<readonly string[]> {
  return listValues(database, "work");
}

async function listValues(
  database: Pick<Database, "transaction">,
  column: "device" | "work",
): Promise<readonly string[]> {
  const values: string[] = [];
  for (let after = ""; values.length < mostValues;) {
    const sql = `SELECT ${column} FROM packages WHERE ${column} > ? ORDER BY ${column} LIMIT 1`;
    const [row] = await select(database, { sql, values: [after] });
    const value = row?.[column];
    if (typeof value !== "string") {
      break;
    }
    values.push(value);
    after = value;
  }
  return values;
}

/** A package, or what it will be made of, that is not where the packages are yet. */
export interface Undelivered {
  readonly transactionReference: string | null;
  readonly transactionId: string | null;
  /** When its message was accepted (ISO 8601, UTC). */
  readonly acceptedAtUtc: string;
  /** The computer that alone has media of it; null if others can finish it. */
  readonly computer: string | null;
}

/** The oldest ones, and how many there are. */
interface UndeliveredOf {
  readonly packages: readonly Undelivered[];
  readonly count: number;
}

/** A package takes no longer than this on its way, unless something holds it up. */
const onItsWayMs = 10_000;
const mostUndelivered = 5;
/** What comes from the future was noted with a clock that was ahead. */
const isNotNew = (column: string): string => `NOT (${column} BETWEEN ? AND ?)`;

/**
 * The packages that are held up on their way to where the packages are, because that is away, full or refuses them: the oldest ones whose
 * references or numbers have all words of a text, and how many there are of them. `pinned`: those with media that one computer alone has,
 * which need not have everything yet.
 */
export async function findUndelivered(
  database: Pick<Database, "transaction">,
  text: string,
): Promise<UndeliveredOf & { readonly pinned: UndeliveredOf }> {
  const now = new Date();
  const lately = [new Date(now.getTime() - onItsWayMs).toISOString(), now.toISOString()];
  const rows = await select(database, {
    sql: `SELECT job_id, transaction_id, accepted_at, ${lengthOf(intents)},
        (SELECT max(spool_host) FROM job_media WHERE job_media.job_id = jobs.job_id) AS computer FROM jobs
      WHERE ${isOpen} AND (state = 'sealing' AND ${isNotNew("changed_at")} OR ${isPinned} AND ${isNotNew("accepted_at")})
      ORDER BY accepted_at`,
    values: [...lately, ...lately],
  });
  const words = wordsOf(text);
  const found: Undelivered[] = [];
  for await (const row of withTexts(database, intents, rows)) {
    const references = readIntent(row)?.references;
    const id = row["transaction_id"];
    const transactionId = typeof id === "string" ? id : null;
    const own = [transactionId, ...Object.values(references ?? {})].flatMap((one) => soughtWords(one ?? ""));
    if (words.every((word) => own.some((one) => one.includes(word)))) {
      found.push({
        transactionReference: references?.transactionReference ?? null,
        transactionId,
        acceptedAtUtc: String(row["accepted_at"]),
        computer: typeof row["computer"] === "string" ? row["computer"] : null,
      });
    }
  }
  const of = (all: readonly Undelivered[]): UndeliveredOf => ({
    packages: all.slice(0, mostUndelivered),
    count: all.length,
  });
  const pinned = found.filter(({ computer }) => computer !== null);
  return { ...of(found.filter(({ computer }) => computer === null)), pinned: of(pinned) };
}

const mostSuggested = 4;
/** Of a longer text, the first words are tried. */
const mostTried = 6;

/** Returns texts that are in a text with which nothing is found, and with which something is: its words, or the most of one word. */
export async function suggestTexts(
  database: Pick<Database, "transaction">,
  text: string,
  filter: Filter = {},
): Promise<readonly string[]> {
  const isFound = async (part: string): Promise<boolean> => {
    const words = wordsOf(part);
    return (
      words.length > 0 && (await findNewest(database, { filter, texts: words.map(partOfWord) }, 1)).length > 0
    );
  };
  /** The longest part that is found; each shorter one is then found, too. */
  const longest = async (partOf: (length: number) => string, length: number): Promise<string | undefined> => {
    let [found, tooLong] = [shortestPart - 1, length];
    while (tooLong - found > 1) {
      const middle = Math.floor((found + tooLong) / 2);
      if (await isFound(partOf(middle))) {
        found = middle;
      } else {
        tooLong = middle;
      }
    }
    return found < shortestPart ? undefined : partOf(found);
  };
  const suggested = new Set<string>();
  const words = text.trim().split(/\s+/).slice(0, mostTried);
  for (const word of words) {
    const characters = Array.from(word);
    if (words.length > 1 && (await isFound(word))) {
      suggested.add(word);
      continue;
    }
    for (const part of [
      await longest((length) => characters.slice(0, length).join(""), characters.length),
      await longest((length) => characters.slice(-length).join(""), characters.length),
    ]) {
      if (part !== undefined) {
        suggested.add(part);
      }
    }
  }
  return [...suggested].slice(0, mostSuggested);
}

/** Whole millimetres or grams; both ends belong to it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A size to look up: the sides, the longest first, and the weight. */
export interface SoughtSize {
  readonly sides: readonly [Range, Range, Range] | null;
  readonly weight: Range | null;
}

const number = String.raw`(\d{1,6}(?:[.,]\d{1,9})?|[.,]\d{1,9})`;
/** The last one is the Cyrillic letter that looks like an x. */
const by = String.raw`\s*[x×✕✖⨯*х]\s*`;
const [lengthUnit, weightUnit] = [lengthNames, weightNames].map((names) => `(${names.join("|")})\\.?`);
const side = String.raw`${number}\s*(?:${lengthUnit})?`;
const sizePattern = new RegExp(`^${side}${by}${side}${by}${side}$`);
const weighed = String.raw`${number}\s*${weightUnit}`;
const weightPattern = new RegExp(`^${weighed}$`);
const apart = String.raw`[,;/|·(\s]+`;
const weightLast = new RegExp(String.raw`^(?<size>.+?)${apart}(?<weighs>${weighed})\)?$`);
const weightFirst = new RegExp(String.raw`^(?<weighs>${weighed})${apart}(?<size>.+?)\)?$`);
/** What people type and print for the sign of inches. */
const inches = /["“”″]|''/g;
/** No size is longer; in a longer text, where the weight begins takes a time that grows with the square of the length. */
const longestSize = 100;
/** Without a unit, people mean the one of their device. */
const usualUnits = ["cm", "in"] as const;
/** The largest tolerances: a size of 1 m or 1 lb is meant more exactly than to a whole unit. */
const mostMm = 25;
const mostGrams = 500;

/**
 * Reads a size as people write it: `33.5 × 21 × 12.5 cm`, `33x21x12`, `13" x 8" x 5"`, `1.27 kg`, or a size and a weight. Each number is
 * as exact as it is written: 33 finds 32 to 34, and 33.5 finds 33.4 to 33.6. Without a unit, it is a size in centimetres or in
 * inches. Undefined for anything else.
 */
export function readSize(text: string): readonly SoughtSize[] | undefined {
  const trimmed = text.trim();
  if (trimmed.length > longestSize) {
    return undefined;
  }
  const typed = foldText(trimmed.replace(inches, "in")).trim();
  const alone = readWeight(typed);
  if (alone !== null) {
    return [{ sides: null, weight: alone }];
  }
  const { size = typed, weighs = "" } = (weightLast.exec(typed) ?? weightFirst.exec(typed))?.groups ?? {};
  const weight = readWeight(weighs);
  const sizes = readSides(size).map((sides) => ({ sides, weight }));
  return sizes.length === 0 ? undefined : sizes;
}

/** The sides in each unit that may be meant. */
function readSides(text: string): (readonly [Range, Range, Range])[] {
  const [, one = "", ofOne, other = "", ofOther, third = "", unit = ofOther ?? ofOne] =
    sizePattern.exec(text) ?? [];
  if (third === "") {
    return [];
  }
  return (unit === undefined ? usualUnits : [unit]).map((name) => {
    const [longest, middle, shortest] = (
      [
        [one, ofOne],
        [other, ofOther],
        [third, unit],
      ] as const
    )
      .map(([value, own]) => rangeOf(readNumber(value), (all) => millimetres(all, own ?? name) ?? 0, mostMm))
      .toSorted((a, b) => b.from - a.from);
    return [longest ?? nothing, middle ?? nothing, shortest ?? nothing] as const;
  });
}

const nothing: Range = { from: 0, to: 0 };

function readWeight(text: string): Range | null {
  const [, value = "", unit = ""] = weightPattern.exec(text) ?? [];
  return value === "" ? null : rangeOf(readNumber(value), (one) => grams(one, unit) ?? 0, mostGrams);
}

interface Written {
  readonly value: number;
  /** One unit of its last digit. */
  readonly step: number;
}

function readNumber(text: string): Written {
  const [, decimals = ""] = /[.,](\d+)$/.exec(text) ?? [];
  return { value: Number(text.replace(",", ".")), step: 10 ** -decimals.length };
}

function rangeOf({ value, step }: Written, convert: (value: number) => number, most: number): Range {
  const [middle, tolerance] = [convert(value), Math.min(convert(step), most)];
  // The index has whole numbers, and binary fractions differ a little from the decimal ones.
  return { from: Math.round(middle - tolerance), to: Math.round(middle + tolerance) };
}
