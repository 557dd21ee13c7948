/**
 * Whether the last digit of a text, or of a part of it, is the check digit of those before it, by GS1's rule: weights 3 and 1
 * from the right, modulo 10.
 */
export function hasGs1CheckDigit(text: string, from = 0, end = text.length): boolean {
  let sum = 0;
  for (let index = from; index < end; index++) {
    const digit = text.charCodeAt(index) - 48;
    sum += (end - index) % 2 === 1 ? digit : digit * 3;
  }
  return sum % 10 === 0;
}

const digits = /^\d+$/;

/** Whether it consists of digits alone; "" does not. */
export function isDigits(text: string): boolean {
  return digits.test(text);
}
