/** Where a Function node keeps values, without the rest of Node-RED. */
export function contextOf() {
  const values = new Map<string, unknown>();
  return {
    get: (name: string) => values.get(name) as never,
    set: (name: string, value: unknown) => void values.set(name, value),
  };
}
