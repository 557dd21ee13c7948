/** Whether the last digit is the check digit of those before it, by GS1's rule: weights 3 and 1 from the right, modulo 10. */
export function hasGs1CheckDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const fromRight = digits.length - 1 - index;
    sum += (digits.charCodeAt(index) - 48) * (fromRight % 2 === 0 ? 1 : 3);
  }
  return sum % 10 === 0;
}

const digits = /^\d+$/;

/** Whether it consists of digits alone; "" does not. */
export function isDigits(text: string): boolean {
  return digits.test(text);
}
