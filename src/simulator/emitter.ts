/** Typed events of one kind. */
export interface Emitter<T> {
  emit(event: T): void;
  /** Returns a function that removes the listener. */
  on(listener: (event: T) => void): () => void;
  /** The next event that matches; rejects when the simulator closes first. */
  next(fits?: (event: T) => boolean): Promise<T>;
  close(): void;
}

export function createEmitter<T>(): Emitter<T> {
  const listeners = new Set<(event: T) => void>();
  const waiting = new Set<(reason: Error) => void>();
  function on(listener: (event: T) => void): () => void {
    // A new function for each call, so that the same listener can be added twice.
    const entry = (event: T): void => listener(event);
    listeners.add(entry);
    return () => listeners.delete(entry);
  }
  return {
    emit: (event) => listeners.forEach((listener) => listener(event)),
    on,
    next: (fits = () => true) =>
      new Promise<T>((resolve, reject) => {
        waiting.add(reject);
        const off = on((event) => {
          if (!fits(event)) {
            return;
          }
          off();
          waiting.delete(reject);
          resolve(event);
        });
      }),
    close() {
      listeners.clear();
      waiting.forEach((reject) => reject(new Error("The simulator was closed.")));
      waiting.clear();
    },
  };
}
