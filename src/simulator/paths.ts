function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The segments of a path. Like real servers it first decodes and then resolves `.` and `..`, so that a client that lets
 * `..` into an id reaches what it would reach there. An encoded slash stays inside its segment.
 */
export function segmentsOf(path: string): string[] {
  const segments: string[] = [];
  for (const raw of path.split("/")) {
    const segment = decoded(raw);
    if (segment === "..") {
      segments.pop();
    } else if (segment !== "." && segment !== "") {
      segments.push(segment);
    }
  }
  return segments;
}

/** A query by lower-case names; of equal names the first counts. */
export function queryOf(query: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    const key = name.toLowerCase();
    if (!values.has(key)) {
      values.set(key, value);
    }
  }
  return values;
}
