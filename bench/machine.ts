import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, platform, release, totalmem } from "node:os";
import { findRuntimes } from "./runtimes.ts";

/** The facts of the computer that readers need; nothing that identifies it. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly os: string;
  /** The versions of the measured programs, by name. */
  readonly versions: Readonly<Record<string, string>>;
}

export function describeMachine(): Machine {
  const require = createRequire(import.meta.url);
  const versionIn = (manifest: string) => (require(manifest) as { version: string }).version;
  // This package is part of it, because `merge` drops results of another version of this package.
  const versions: Record<string, string> = { "this package": versionIn("../package.json") };
  for (const { nodeRedVersion, node } of findRuntimes()) {
    versions[`Node-RED ${nodeRedVersion.replace(/\.\d+$/, "")}`] =
      `${nodeRedVersion} on Node ${node.version}`;
  }
  versions["undici"] = versionIn("undici/package.json");
  for (const command of ["curl", "wget"]) {
    versions[command] = versionOf(command);
  }
  return {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    os: `${systemName()} (${platform()} ${release().split("-", 1)[0] ?? ""})`,
    versions,
  };
}

function systemName(): string {
  try {
    return /^PRETTY_NAME="(.+)"$/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? platform();
  } catch {
    return platform();
  }
}

function versionOf(command: string): string {
  try {
    const text = execFileSync(command, ["--version"], { encoding: "utf8" });
    return /\d+(?:\.\d+)+/.exec(text)?.[0] ?? "present";
  } catch {
    return "absent";
  }
}
