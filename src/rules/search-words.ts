/**
 * By what packages are found: the words of their references and numbers, in one spelling. It is used where a package comes into the
 * index and where somebody searches, so both find one another; the packages themselves have what was given.
 */

/** Around each word in the index, so that the beginning of a word has three characters, however short the word is. */
const gap = "  ";
/** Shorter words are found only where a word of a package begins with them: an index of character triples has no others. */
export const shortestPart = 3;
/** How much of a word, and of all words of a package, the index has, in characters. */
const longestWord = 200;
const longestWords = 4_000;
/** More triples of a word do not leave fewer packages to look at. */
const mostTriples = 12;

/** What is true of a package, as a word that nobody can type: a search loses such characters. */
export const marks = { film: "\u{F0000}", incomplete: "\u{F0001}" } as const;

export type Mark = keyof typeof marks;

/** The marks of the days of a month, and of months, begin here. There are more months than a file of a database outlives. */
const [firstDay, firstMonth, mostMonths] = [0xf0100, 0xf1000, 60_000];

/** How much of a time in ISO 8601 is its month, and its day. */
export const partsOfTime = ["2026-11".length, "2026-11-27".length] as const;

/** The words of all packages that were archived in a month or on a day, such as `2026-11` or `2026-11-27`, in UTC. */
export function timeMarks(time: string): string[] {
  const [year = 0, month = 0, day] = time.split("-").map(Number);
  const months = year * 12 + month;
  return [
    String.fromCodePoint(firstMonth + (Number.isInteger(months) ? months % mostMonths : 0)),
    ...(day === undefined ? [] : [String.fromCodePoint(firstDay + (Number.isInteger(day) ? day % 100 : 0))]),
  ];
}

/** Also accents that stand alone and signs of minutes and inches, which people type and print for quotation marks. */
const quotes = /[\p{Quotation_Mark}`´\u02B9-\u02BC\u02EE\u05F3\u05F4\u2032-\u2037]/gu;

/** The digits that are not 0 to 9; Unicode has each ten of them in a row. */
const otherDigit = /(?![0-9])\p{Nd}/gu;

/**
 * Returns a text as it is compared: without what nobody sees, and with one spelling for characters in capitals and small letters
 * (also the dotted and the dotless i), in composed and decomposed form, full width or as a ligature, for digits of all scripts,
 * and for dashes, quotes and spaces.
 */
export function foldText(text: string): string {
  return text
    .replace(/\p{Cs}/gu, "\uFFFD")
    .replace(/[\p{Cc}\p{Z}]/gu, " ")
    .replace(/[\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(quotes, "'")
    .normalize("NFKC")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/i\u0307/g, "i")
    .replace(/ς/g, "σ")
    .normalize("NFKC")
    .replace(otherDigit, digitOf)
    .replace(/[\p{Pd}\u2212]/gu, "-")
    .replace(quotes, "'");
}

function digitOf(digit: string): string {
  const code = digit.codePointAt(0) ?? 0;
  let zero = code;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1))) {
    zero -= 1;
  }
  return String((code - zero) % 10);
}

/** What Unicode does not take apart into a letter and a mark. */
const joinedLetters = new Map(
  Object.entries({ ł: "l", ø: "o", đ: "d", ħ: "h", æ: "ae", œ: "oe", þ: "th", ð: "d" }),
);

/**
 * A word of the index as somebody types it whose keyboard has no accents: `zoe` for `zoë`, and `елка` for `ёлка`. Scripts whose
 * marks are vowels that everybody writes keep them.
 */
export function withoutAccents(word: string): string {
  return word
    .normalize("NFD")
    .replace(
      /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}]\p{M}*)\p{M}/gu,
      "",
    )
    .replace(/[łøđħæœþð]/g, (letter) => joinedLetters.get(letter) ?? letter)
    .normalize("NFC");
}

/** The words by which somebody may look for a text: each also without accents. */
export function soughtWords(text: string): string[] {
  return wordsOf(text).flatMap((word) => [word, withoutAccents(word)]);
}

/** The words of a text in the spelling of the index, each once; none where there is nothing to see. */
export function wordsOf(text: string): string[] {
  const words = foldText(text)
    .split(/\s+/)
    .filter((word) => word !== "")
    .map((word) => Array.from(word).slice(0, longestWord).join(""));
  return [...new Set(words)];
}

/** Returns what the index has of a package that was archived at this time (ISO 8601, UTC). */
export function searchWords(
  archivedAt: string,
  texts: readonly (string | null)[],
  which: readonly Mark[],
): string {
  const words = texts.flatMap((text) => (text === null ? [] : soughtWords(text)));
  let all = gap;
  for (const word of new Set([
    ...timeMarks(archivedAt.slice(0, partsOfTime[1])),
    ...which.map((mark) => marks[mark]),
    ...words,
  ])) {
    if (all.length + word.length > longestWords) {
      break;
    }
    all += word + gap;
  }
  return all;
}

/** What numbers add, one after the other, to the search words of a package: each word with what is behind it. */
export function addedWords(before: string, numbers: readonly string[]): readonly string[] {
  const added = new Set(numbers.flatMap(soughtWords).filter((word) => !before.includes(wholeWord(word))));
  return [...added].map((word) => word + gap);
}

/** The text by which a package has such a word, or one with it inside; of a short word, one that begins with it. */
export function partOfWord(word: string): string {
  return Array.from(word).length < shortestPart ? gap + word : word;
}

/** The text by which a package has exactly this word. */
export function wholeWord(word: string): string {
  return gap + word + gap;
}

/** The only triple that all packages with a mark have, and no others. */
export function tripleOfMark(mark: string): string {
  return `" ${mark} "`;
}

/** The character triples of texts that `partOfWord` and `wholeWord` return, in quotes, as a database takes them. */
export function triplesIn(texts: readonly string[]): string[] {
  const triples = texts.flatMap((text) => {
    const characters = Array.from(text);
    const last = characters.length - shortestPart;
    const step = Math.max(1, Math.ceil(last / mostTriples));
    const places = Array.from({ length: Math.floor(last / step) + 1 }, (_, place) => place * step);
    return [...places, last].map((place) => characters.slice(place, place + shortestPart).join(""));
  });
  return [...new Set(triples)].map((triple) => `"${triple}"`);
}
