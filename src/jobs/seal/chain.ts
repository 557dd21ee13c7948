import type { PlacedPackage } from "../../vault/packages/intent.ts";
import type { Manifest } from "../../vault/packages/manifest.ts";

/** The chain of the packages of one worker: each manifest names the one that was written before. */
export class Chain {
  #last: PlacedPackage | undefined;
  /** Packages that were found after a kill, by the hash of the one before them. */
  readonly #successors = new Map<string, PlacedPackage>();
  /** Packages get their names one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  /** `last`: the package that the next manifest names. */
  constructor(last: PlacedPackage | undefined) {
    this.#last = last;
  }

  /** The package that the next manifest names. */
  get last(): PlacedPackage | null {
    return this.#last ?? null;
  }

  /** Makes a package when the ones before it have their names; `add` is to be called within. */
  async inTurn<T>(make: () => Promise<T>): Promise<T> {
    const made = this.#turn.then(make);
    this.#turn = made.catch(() => undefined);
    return await made;
  }

  /** The next manifest names this package. */
  add({ path, sha256 }: PlacedPackage): void {
    this.#last = { path, sha256 };
  }

  /** Adds a package that a killed process had placed, and those that follow it. */
  follow({ path, sha256 }: PlacedPackage, { previous }: Manifest): void {
    this.#successors.set(previous?.sha256 ?? "", { path, sha256 });
    for (let next; (next = this.#successors.get(this.#last?.sha256 ?? "")) !== undefined;) {
      this.#last = next;
    }
  }
}
