import assert from "node:assert/strict";

/** More than any of the code under test may look at. */
const mostLooks = 100;

/**
 * A list that has these elements at its end, and 4 billion holes before them: it fails when more of it is looked at than it has. Without
 * that, code that visits each hole would hold up the tests for minutes.
 */
export function farList(elements: readonly unknown[]): unknown[] {
  const list: unknown[] = [];
  list.length = 2 ** 32 - 1;
  elements.forEach((element, index) => {
    list[list.length - elements.length + index] = element;
  });
  let looks = 0;
  const look = (): void => {
    looks += 1;
    assert.ok(looks <= mostLooks, "the holes of the list were visited");
  };
  return new Proxy(list, {
    has: (target, key) => {
      look();
      return Reflect.has(target, key);
    },
    get: (target, key) => {
      look();
      return Reflect.get(target, key);
    },
    getOwnPropertyDescriptor: (target, key) => {
      look();
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
}
