// Runs a program of this repository on a Node.js that is new enough:  node tools/with-node.mjs <program> [arguments …]
//
// The npm scripts start here. It is plain JavaScript that an old Node.js runs too: where the user's own Node.js is older
// than package.json's `engines` ask for, the program runs on the one that `npm ci` has installed, and a line says so.
// In an npm script `node` is whatever a package has put into node_modules/.bin, so each is named by its path.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** @type {{ engines: { node: string } }} */
const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const least = engines.node.replace(">=", "");

const node = findNode();
if (node === undefined) {
  process.exitCode = 1;
} else {
  run(node, process.argv.slice(2));
}

/** The path of a Node.js that is new enough; where there is none, a sentence says what to do. */
function findNode() {
  // npm says which Node.js it runs on itself.
  const own = process.env["npm_node_execpath"] ?? process.execPath;
  const ownVersion = versionOf(own);
  if (isAtLeast(ownVersion, least)) {
    return own;
  }

  const platform = `${process.platform}-${process.arch}`;
  const bundled = join(root, "node_modules", `node-24-${platform}`, "bin", "node");
  if (existsSync(bundled)) {
    // Printed once: a script within a script is run as `npm run --silent`.
    if (process.env["npm_config_loglevel"] !== "silent") {
      console.error(
        `Your Node.js is ${ownVersion}; this runs on the ${versionOf(bundled)} that npm ci has installed.`,
      );
    }
    return bundled;
  }
  console.error(
    `Your Node.js is ${ownVersion}; this needs ${least} or later, and npm ci has installed none for ${platform}. ` +
      "Install a newer one from https://nodejs.org, then run npm ci again.",
  );
  return undefined;
}

/** @param {string} path */
function versionOf(path) {
  return execFileSync(path, ["--version"], { encoding: "utf8" }).trim().slice(1);
}

/**
 * @param {string} version "22.19.0"
 * @param {string} wanted "22.19"
 */
function isAtLeast(version, wanted) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = wanted.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

/**
 * @param {string} path
 * @param {readonly string[]} args
 */
function run(path, args) {
  const child = spawn(path, args, { stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("close", (code, signal) => {
    process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  });
}
