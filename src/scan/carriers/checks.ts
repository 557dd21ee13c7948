import { hasGs1CheckDigit } from "../gs1/check-digits.ts";

/**
 * Returns whether the check digit of a tracking number is correct. The serial number from which it is computed is between two
 * indexes of the text, and the check digit is at the second one. Indexes are passed instead of parts of the text, because most
 * numbers are compared with several formats.
 */
export type CheckDigit = (number: string, from: number, at: number) => boolean;

/** The value of a digit. */
const digitAt = (number: string, index: number): number => number.charCodeAt(index) - 48;

/** Modulo 10, with a weight for each character from the left. The value of a letter is its ASCII code minus 3. */
export function modulo10(even: number, odd: number, prefix = ""): CheckDigit {
  const sumOf = (text: string, from: number, to: number, first: number, second: number): number => {
    let sum = 0;
    for (let index = from; index < to; index++) {
      const code = text.charCodeAt(index);
      sum += (code < 58 ? code - 48 : (code - 3) % 10) * ((index - from) % 2 === 0 ? first : second);
    }
    return sum;
  };
  const sumOfPrefix = sumOf(prefix, 0, prefix.length, even, odd);
  const isEvenBehind = prefix.length % 2 === 0;
  // Leading digits that are omitted in the number have weights as well.
  return (number, from, at) => {
    const sum =
      prefix === "" || number.startsWith(prefix, from)
        ? sumOf(number, from, at, even, odd)
        : sumOfPrefix + sumOf(number, from, at, isEvenBehind ? even : odd, isEvenBehind ? odd : even);
    return (10 - (sum % 10)) % 10 === digitAt(number, at);
  };
}

/** The check digit of GS1, for numbers of digits only. */
export const gs1: CheckDigit = (number, from, at) => hasGs1CheckDigit(number, from, at + 1);

/** The remainder of the division by 7. */
export const modulo7: CheckDigit = (number, from, at) =>
  Number(number.slice(from, at)) % 7 === digitAt(number, at);

/** The sum of the weighted digits modulo 11, and the result modulo 10. */
export function weighted(weights: readonly number[]): CheckDigit {
  return (number, from, at) => (weightedSum(number, from, weights) % 11) % 10 === digitAt(number, at);
}

const s10Weights = [8, 6, 4, 2, 3, 5, 9, 7];

/** UPU S10: 11 minus the remainder of the division by 11; 10 becomes 0, and 11 becomes 5. */
export const s10: CheckDigit = (number, from, at) => {
  const rest = 11 - (weightedSum(number, from, s10Weights) % 11);
  return (rest === 10 ? 0 : rest === 11 ? 5 : rest) === digitAt(number, at);
};

/** ISO/IEC 7812: every second digit from the right is doubled. */
export const luhn: CheckDigit = (number, from, at) => {
  let sum = digitAt(number, at);
  for (let index = at - 1; index >= from; index--) {
    const digit = digitAt(number, index);
    sum += (at - index) % 2 === 1 ? digit * 2 - (digit > 4 ? 9 : 0) : digit;
  }
  return sum % 10 === 0;
};

/** ISO/IEC 7064, modulo 37 and 36, over digits and letters. */
export const modulo37and36: CheckDigit = (number, from, at) => {
  let rest = 36;
  for (let index = from; index < at; index++) {
    rest += Number.parseInt(number.charAt(index), 36);
    rest = (rest > 36 ? rest - 36 : rest) * 2;
    rest = rest > 36 ? rest - 37 : rest;
  }
  return (37 - rest) % 36 === Number.parseInt(number.charAt(at), 36);
};

function weightedSum(number: string, from: number, weights: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < weights.length; index++) {
    sum += (weights[index] ?? 0) * digitAt(number, from + index);
  }
  return sum;
}
