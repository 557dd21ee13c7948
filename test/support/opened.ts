interface Closable {
  close(): unknown;
}

/** Registers something to be closed at the end, and returns it. */
export type Opened = <T extends Closable>(thing: T) => T;

/** Closes what a test has registered, the last first, after each test of the suite that calls it. */
export function closesAfterEach(): Opened {
  const open: Closable[] = [];
  afterEach(() => closeAll(open));
  return remembering(open);
}

const atOnce = 8;

/**
 * Defines one test for each row. Several rows run at a time, since most of them only wait. What a row has registered is
 * closed when it has ended.
 */
export function manyAtOnce<T>(
  rows: Readonly<Record<string, T>>,
  run: (row: T, opened: Opened, name: string) => Promise<unknown>,
): void {
  const tests = Object.entries(rows).map(([name, row]) => {
    const open: Closable[] = [];
    let running: Promise<unknown> | undefined;
    const begin = (): Promise<unknown> => {
      running ??= runAndClose(open, () => run(row, remembering(open), name));
      // The row's own test reports the error.
      return running.catch(() => undefined);
    };
    it(name, async () => {
      await begin();
      await running;
    });
    return begin;
  });
  before(() => {
    const left = tests.values();
    for (let worker = 0; worker < atOnce; worker++) {
      void work(left);
    }
  });
}

async function runAndClose(open: Closable[], run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } finally {
    await closeAll(open);
  }
}

async function work(left: Iterator<() => Promise<unknown>>): Promise<void> {
  for (let next = left.next(); next.done !== true; next = left.next()) {
    await next.value();
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
