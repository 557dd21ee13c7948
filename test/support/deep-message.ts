/** An object in an object, and so on. */
export function nested(levels: number): object {
  let value: object = {};
  for (let level = 1; level < levels; level += 1) {
    value = { value };
  }
  return value;
}
