/** The addresses of a store's packages on its evidence page. */
export class PackageLinks {
  #page: string | undefined;

  /** From now on the page is served at this address, which ends with a slash. */
  begin(page: string): void {
    this.#page = page;
  }

  end(): void {
    this.#page = undefined;
  }

  /** The address of a package; null if the page is not served. */
  to(packageId: string): string | null {
    return this.#page === undefined ? null : `${this.#page}#package=${encodeURIComponent(packageId)}`;
  }
}
