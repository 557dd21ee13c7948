import * as fc from "fast-check";
import { gs } from "./support.ts";

/** What scanners send, and what nobody would: codes, separators, ends and single characters of all kinds. */
const pieces = fc.oneof(
  fc.constantFrom(
    "]C1",
    "]Q3",
    "]E0",
    "]d1",
    "]",
    "00",
    "01",
    "10",
    "17",
    "3102",
    "8008",
    "89",
    "(01)",
    "(",
    ")",
    "\\",
  ),
  fc.constantFrom(
    gs,
    "<GS>",
    "^]",
    "\r",
    "\n",
    "\t",
    "\x02",
    "\x03",
    "\0",
    " ",
    "=",
    "%zz",
    "|]e0",
    "🙂",
    "\ud800",
  ),
  fc.constantFrom("https://a/", "/01/", "?", "&", "1Z", "420", "94", "(00)123456789012345675"),
  fc.string({ maxLength: 8, unit: "binary" }),
  fc.stringMatching(/^\d{0,20}$/),
);
/** Any scan at all. */
export const anything = fc.array(pieces, { maxLength: 30 }).map((all) => all.join(""));
