import { RE2JS as Re2 } from "re2js";
import type { FindReference } from "./reference.ts";

/**
 * A regular expression that takes the reference out of a scan, run by RE2, whose time grows in proportion to the text whatever
 * the expression. Throws an Error where RE2 does not take it.
 */
export function compilePattern(pattern: string): FindReference {
  const compiled = Re2.compile(pattern);
  return (text) => {
    const matcher = compiled.matcher(text);
    return matcher.find() ? matcher.group(1) : null;
  };
}
