/** Longest message that is kept: some systems quote what they were given. */
const longestMessage = 300;
/** An error underneath may have one underneath itself; more than this is of no help to anybody. */
const deepest = 3;

/**
 * What may be shown and logged of an error that another layer threw: its name, its message, its code and where it was
 * thrown. Everything else is left out, since such errors carry the request's headers, the answer's bytes or the input.
 */
export function withoutSecrets(error: unknown, depth = 1): Error {
  const { name, code, message, frames, cause } = readError(error);
  const inner = cause === undefined || depth === deepest ? undefined : withoutSecrets(cause, depth + 1);
  const safe = new Error(message, inner && { cause: inner });
  const own = { name, code, stack: [`${name}: ${message}`, ...frames].join("\n") };
  for (const [property, value] of Object.entries(own)) {
    if (value !== undefined) {
      Object.defineProperty(safe, property, { value, configurable: true, writable: true });
    }
  }
  return safe;
}

interface ReadError {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly frames: readonly string[];
  readonly cause: unknown;
}

function readError(error: unknown): ReadError {
  if (!(error instanceof Error)) {
    return { name: "Error", code: undefined, message: mask(String(error)), frames: [], cause: undefined };
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  // A connect that tried several addresses has its messages one layer down.
  const attempts: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const [first] = attempts;
  const message = error.message === "" && first instanceof Error ? first.message : error.message;
  // The stack begins with the message, which may have any lines.
  const { stack = "" } = error;
  const frames = stack
    .slice(stack.indexOf(error.message) + error.message.length)
    .split("\n")
    .filter((line) => /^\s+at /.test(line));
  return { name: error.name, code, message: mask(message), frames, cause: error.cause };
}

/** Cut, and without what names a user or lets one in: passwords and queries of addresses, and what an authentication scheme sends. */
function mask(message: string): string {
  return message
    .slice(0, longestMessage)
    .replace(/\b([a-z][a-z\d+.-]*:\/\/)[^\s/?#]*@/gi, "$1")
    .replace(/\b([a-z][a-z\d+.-]*:\/\/[^\s?#]*)[?#]\S*/gi, "$1")
    .replace(/\b(basic|bearer|digest|negotiate)\s+\S+/gi, "$1 …")
    .trim()
    .toWellFormed();
}
