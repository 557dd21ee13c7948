interface Closable {
  close(): unknown;
}

/** Remembers a thing that has to be closed at the end, and hands it on. */
export type Opened = <T extends Closable>(thing: T) => T;

/** Closes what a test opens, last first, after each test of the suite it is called in. */
export function closesAfterEach(): Opened {
  const open: Closable[] = [];
  afterEach(() => closeAll(open));
  return remembering(open);
}

/**
 * One test a row, with all rows begun at once, since most of them only wait. What a row opens is closed when it has
 * ended.
 */
export function allAtOnce<T>(
  rows: Readonly<Record<string, T>>,
  run: (row: T, opened: Opened, name: string) => Promise<unknown>,
): void {
  const ended = new Map<string, Promise<{ readonly error?: unknown }>>();
  before(() => {
    for (const [name, row] of Object.entries(rows)) {
      const open: Closable[] = [];
      const running = run(row, remembering(open), name).finally(() => closeAll(open));
      ended.set(
        name,
        running.then(
          () => ({}),
          (error: unknown) => ({ error }),
        ),
      );
    }
  });
  for (const name of Object.keys(rows)) {
    it(name, async () => {
      const end = await ended.get(name);
      if (end !== undefined && "error" in end) {
        throw end.error;
      }
    });
  }
}

function remembering(open: Closable[]): Opened {
  return (thing) => {
    open.push(thing);
    return thing;
  };
}

async function closeAll(open: Closable[]): Promise<void> {
  for (const thing of open.splice(0).reverse()) {
    await thing.close();
  }
}
