// Preloaded by the tests on Node.js 22: `--import` of this in NODE_OPTIONS, and a folder in NODE_COMPILE_CACHE.
//
// Node.js 24 keeps a TypeScript file without its types beside its compiled code. Node.js 22 removes the types again whenever a thread
// starts, which then takes 235 ms of computing time instead of 55 ms. Only threads have the hook: with one, Node.js 22.19 cannot import
// CommonJS modules that require modules of Node.js itself, as mocha and undici do.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, threadId } from "node:worker_threads";

const folder = process.env["NODE_COMPILE_CACHE"];

if (folder !== undefined && !isMainThread) {
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith("file:") || !url.endsWith(".ts")) {
        return next(url, context);
      }
      const path = fileURLToPath(url);
      const stripped = `${folder}/stripped${path}-${statSync(path).mtimeMs}`;
      return { format: "module", source: readIfThere(stripped) ?? strip(path, stripped), shortCircuit: true };
    },
  });
}

/** @param {string} path */
function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * @param {string} path
 * @param {string} stripped where the next thread finds it
 */
function strip(path, stripped) {
  const source = stripTypeScriptTypes(readFileSync(path, "utf8"));
  // Written under a name of its own first: another process may be reading it, or writing it, too.
  const own = `${stripped}-${process.pid}-${threadId}`;
  try {
    mkdirSync(dirname(stripped), { recursive: true });
    writeFileSync(own, source);
    renameSync(own, stripped);
  } catch {
    // The next thread removes the types again. A test may run as a user who must not write there.
  }
  return source;
}
