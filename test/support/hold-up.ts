/** Holds up this process, as a node of somebody else's can do: nothing in it runs meanwhile. */
export function holdUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
