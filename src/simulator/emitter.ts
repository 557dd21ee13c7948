/** A place to listen for things that happen. */
export interface Emitter<T> {
  emit(thing: T): void;
  /** Returns a function that ends the listening. */
  on(listener: (thing: T) => void): () => void;
  /** The next thing that fits; rejects when the simulator closes first. */
  next(fits?: (thing: T) => boolean): Promise<T>;
  close(): void;
}

export function createEmitter<T>(): Emitter<T> {
  const listeners = new Set<(thing: T) => void>();
  const waiting = new Set<(reason: Error) => void>();
  function on(listener: (thing: T) => void): () => void {
    // A function of its own for each call: the same listener may listen twice.
    const entry = (thing: T): void => listener(thing);
    listeners.add(entry);
    return () => listeners.delete(entry);
  }
  return {
    emit: (thing) => listeners.forEach((listener) => listener(thing)),
    on,
    next: (fits = () => true) =>
      new Promise<T>((resolve, reject) => {
        waiting.add(reject);
        const off = on((thing) => {
          if (!fits(thing)) {
            return;
          }
          off();
          waiting.delete(reject);
          resolve(thing);
        });
      }),
    close() {
      listeners.clear();
      waiting.forEach((reject) => reject(new Error("The simulator was closed.")));
      waiting.clear();
    },
  };
}
