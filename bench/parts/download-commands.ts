import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { Contender } from "./contender.ts";

export const commandNames = {
  curl: "curl -o",
  wget: "wget -O",
  checked: "curl -o && sync && sha256sum",
} as const;

/** Shell commands; $1 is the address and $2 the file. `sync` alone would wait for every other program's files too. */
const scripts: Readonly<Record<keyof typeof commandNames, { needs: string; script: string }>> = {
  curl: { needs: "curl", script: 'curl -sSf -o "$2" "$1"' },
  wget: { needs: "wget", script: 'wget -q -O "$2" "$1"' },
  checked: { needs: "curl", script: 'curl -sSf -o "$2" "$1" && sync "$2" && sha256sum "$2" >/dev/null' },
};

/** What people use outside Node-RED. */
export function commandContenders(files: string): Contender[] {
  return Object.entries(scripts).map(([key, { needs, script }]) => ({
    name: commandNames[key as keyof typeof commandNames],
    runtime: null,
    async run({ atOnce }, url) {
      if (spawnSync(needs, ["--version"]).status !== 0) {
        throw new Error(`${needs} is not installed`);
      }
      const startedAt = performance.now();
      const runs = Array.from({ length: atOnce }, async (_, index) => {
        const child = spawn("sh", ["-c", script, "sh", url, `${files}/${index}`], {
          stdio: ["ignore", "ignore", "inherit"],
        });
        const [exitCode] = (await once(child, "close")) as [number | null];
        if (exitCode !== 0) {
          throw new Error(`it ended with exit code ${exitCode}`);
        }
      });
      await Promise.all(runs);
      return { seconds: (performance.now() - startedAt) / 1000, memoryBytes: null };
    },
    stop: () => Promise.resolve(),
  }));
}
