import { hasGs1CheckDigit } from "../gs1/check-digits.ts";

/** How a tracking number's check digit follows from its serial number; both as they stand in it. */
export type CheckDigit = (serial: string, check: string) => boolean;

/** Modulo 10 with a weight for each character, from the left; letters count by their place in ASCII, less 3. */
export function modulo10(
  even: number,
  odd: number,
  prefix: (serial: string) => string = () => "",
): CheckDigit {
  return (serial, check) => {
    const whole = prefix(serial) + serial;
    let sum = 0;
    for (let index = 0; index < whole.length; index++) {
      const code = whole.charCodeAt(index);
      sum += (code < 58 ? code - 48 : (code - 3) % 10) * (index % 2 === 0 ? even : odd);
    }
    return (10 - (sum % 10)) % 10 === Number(check);
  };
}

/** GS1's, of digits alone. */
export const gs1: CheckDigit = (serial, check) => hasGs1CheckDigit(serial + check);

/** The remainder by 7. */
export const modulo7: CheckDigit = (serial, check) => Number(serial) % 7 === Number(check);

/** A weight for each digit, the sum modulo 11, and that modulo 10. */
export function weighted(weights: readonly number[]): CheckDigit {
  return (serial, check) => (weightedSum(serial, weights) % 11) % 10 === Number(check);
}

/** UPU S10: 11 less the remainder by 11, with 0 for 10 and 5 for 11. */
export const s10: CheckDigit = (serial, check) => {
  const rest = 11 - (weightedSum(serial, [8, 6, 4, 2, 3, 5, 9, 7]) % 11);
  return (rest === 10 ? 0 : rest === 11 ? 5 : rest) === Number(check);
};

/** ISO/IEC 7812: every second digit from the right is doubled. */
export const luhn: CheckDigit = (serial, check) => {
  let sum = Number(check);
  for (let index = 0; index < serial.length; index++) {
    const digit = Number(serial[serial.length - 1 - index]);
    sum += index % 2 === 0 ? digit * 2 - (digit > 4 ? 9 : 0) : digit;
  }
  return sum % 10 === 0;
};

/** ISO/IEC 7064, modulo 37 and 36, over digits and letters. */
export const modulo37and36: CheckDigit = (serial, check) => {
  let rest = 36;
  for (const character of serial) {
    rest += Number.parseInt(character, 36);
    rest = (rest > 36 ? rest - 36 : rest) * 2;
    rest = rest > 36 ? rest - 37 : rest;
  }
  return (37 - rest) % 36 === Number.parseInt(check, 36);
};

function weightedSum(serial: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * (serial.charCodeAt(index) - 48), 0);
}
