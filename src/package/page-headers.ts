/** The headers with which the package serves its own pages, the same for each of its servers. */

/** Nothing is kept by a cache: what the pages show changes at any time, and the next person may lack the right to see it. */
export const pageHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Allows only the page's own files, and no text as markup or script. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** For everything except the page itself: a picture or a video that is opened on its own runs nothing. */
export const contentPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";
