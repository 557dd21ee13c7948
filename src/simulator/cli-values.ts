/** A mistake on the command line, in a sentence for the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function number(
  name: string,
  given: string | undefined,
  fallback: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  if (given === undefined) {
    return fallback;
  }
  const value = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN;
  if (!(value <= most)) {
    throw new UsageError(`--${name} needs a number, not "${given}".`);
  }
  return value;
}

export function wholeNumber(name: string, given: string | undefined, least = 0): number | undefined {
  if (given === undefined) {
    return undefined;
  }
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (!(Number.isSafeInteger(value) && value >= least)) {
    throw new UsageError(`--${name} needs a whole number of at least ${least}, not "${given}".`);
  }
  return value;
}

export function port(name: string, given: string | undefined, fallback: number): number {
  const value = number(name, given, fallback);
  if (!Number.isInteger(value) || value > 65_535) {
    throw new UsageError(`--${name} needs a port from 0 to 65535, not "${given}".`);
  }
  return value;
}

export function oneOf<T extends string>(
  name: string,
  given: string | undefined,
  allowed: readonly T[],
): T | undefined {
  if (given === undefined) {
    return undefined;
  }
  const found = allowed.find((one) => one === given);
  if (found === undefined) {
    throw new UsageError(`--${name} must be one of ${allowed.join(", ")}, not "${given}".`);
  }
  return found;
}

export function size(name: string, given: string | undefined): number | undefined {
  if (given === undefined) {
    return undefined;
  }
  const match = /^(\d+)([KMG]?)$/i.exec(given);
  if (match === null) {
    throw new UsageError(`--${name} needs a size such as 800000, 512M or 4G, not "${given}".`);
  }
  return Number(match[1]) * 1024 ** ["", "k", "m", "g"].indexOf((match[2] ?? "").toLowerCase());
}
