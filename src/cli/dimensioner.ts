#!/usr/bin/env node
import { packageVersion } from "../package/package-files.ts";
import { print, printable, UsageError, type Verb } from "./command-line.ts";

/** What the command does. A verb is loaded when it is used. */
const verbs: Readonly<Record<string, { readonly summary: string; readonly load: () => Promise<Verb> }>> = {
  simulator: {
    summary: "simulates the devices, the cloud and a scanner",
    load: async () => (await import("./simulator.ts")).simulator,
  },
  verify: {
    summary: "checks that packages are as they were archived",
    load: async () => (await import("./verify.ts")).verify,
  },
  export: {
    summary: "puts packages into a ZIP to hand over, with a report",
    load: async () => (await import("./export.ts")).exportPackages,
  },
  prune: {
    summary: "deletes packages that are older than an age, or the oldest if space is needed",
    load: async () => (await import("./prune.ts")).prune,
  },
  copy: {
    summary: "copies packages to a folder or a bucket",
    load: async () => (await import("./copy.ts")).copy,
  },
  rebuild: {
    summary: "rebuilds the database's index of packages",
    load: async () => (await import("./rebuild.ts")).rebuild,
  },
  timestamp: {
    summary: "has the log of a store time-stamped, and with it all packages",
    load: async () => (await import("./timestamp.ts")).timestamp,
  },
  checkpoint: {
    summary: "prints a checkpoint of the log of a store, to keep elsewhere",
    load: async () => (await import("./checkpoint.ts")).checkpoint,
  },
};

const shells = ["bash", "zsh", "fish"] as const;

const help = `Usage: dimensioner <verb> [arguments]

Verbs
${Object.entries(verbs)
  .map(([name, { summary }]) => `  ${name.padEnd(12)}${summary}`)
  .join("\n")}
  ${"completion".padEnd(12)}prints the completion of a shell: ${shells.join(", ")}

dimensioner <verb> --help explains a verb, with examples. dimensioner --version prints the version.

Examples
  dimensioner simulator
  dimensioner verify /srv/packages --database ~/.node-red/dimensioner
  dimensioner completion bash >> ~/.bashrc

Exit code: 0 everything is fine, 1 something was found, 2 it could not run, or not to the end, 130 stopped with Ctrl+C.`;

/** How long the process waits, after Ctrl+C, for calls to the disk that have not returned. */
const interruptMs = 1_000;
/** The exit code of a command that Ctrl+C has ended, as shells define it: 128 plus the number of the signal. */
const interruptedCode = 130;

/**
 * Runs the command line to its end. The process also ends when the reader of its output ends, as in `dimensioner verify … | head`,
 * and with Ctrl+C, even while the disk does not respond.
 */
async function main([name = "--help", ...args]: readonly string[]): Promise<void> {
  if (name === "--help" || name === "-h" || name === "help") {
    return print(help);
  }
  if (name === "--version") {
    return print(packageVersion().version);
  }
  const interrupted = new AbortController();
  let isService = false;
  const interrupt = (signal: NodeJS.Signals): void => {
    if (interrupted.signal.aborted) {
      endBy(signal);
    }
    interrupted.abort();
    if (!isService) {
      setTimeout(() => endBy(signal), interruptMs).unref();
    }
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  process.stdout.on("error", () => {
    if (!isService) {
      process.exit(2);
    }
  });
  try {
    if (name === "completion") {
      const all = await Promise.all(Object.values(verbs).map(({ load }) => load()));
      return await print(completionScript(args[0], all));
    }
    const found = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
    if (found === undefined) {
      throw new UsageError(`there is no verb “${name}”. The verbs are ${Object.keys(verbs).join(", ")}.`);
    }
    const verb = await found.load();
    ({ isService } = verb);
    process.exitCode = await verb.run(args, interrupted.signal);
  } catch (error) {
    const isInterrupted = interrupted.signal.aborted;
    const message = error instanceof Error ? error.message : String(error);
    const shownName = Object.hasOwn(verbs, name) ? ` ${name}` : "";
    const hint = error instanceof UsageError ? ` See dimensioner${shownName} --help.` : "";
    const reason = isInterrupted ? "stopped" : message.replaceAll("\n", " ") + hint;
    process.stderr.write(`dimensioner${shownName}: ${printable(reason)}\n`);
    process.exitCode = isInterrupted ? interruptedCode : 2;
  }
}

/**
 * Ends this process as a signal does that nobody handles, which shells show as 128 plus its number: an orderly exit waits for the threads
 * that wait for a disk.
 */
function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** The script that completes the verbs, their options, and the values of options that have a choice; files where nothing else fits. */
export function completionScript(shell: string | undefined, verbs: readonly Verb[]): string {
  switch (shell) {
    case "bash":
      return bash(verbs);
    case "zsh":
      // zsh runs completions that are written for bash.
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(verbs)}`;
    case "fish":
      return fish(verbs);
    default:
      throw new UsageError(`name the shell: ${shells.join(", ")}.`);
  }
}

function bash(verbs: readonly Verb[]): string {
  const values = verbs.flatMap(({ name, options }) =>
    Object.entries(options).flatMap(([option, { choices }]) =>
      choices === undefined ? [] : [`    "${name} --${option}") words="${choices.join(" ")}" ;;`],
    ),
  );
  const options = verbs.map(
    ({ name, options: all }) =>
      `    ${name}) words="${Object.keys(all)
        .map((one) => `--${one}`)
        .join(" ")}" ;;`,
  );
  return `_dimensioner() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${[...verbs.map(({ name }) => name), "completion"].join(" ")} --help --version"
  else
    case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD-1]}" in
${values.join("\n")}
    *) case "$current" in -*) case "\${COMP_WORDS[1]}" in
${options.join("\n")}
    esac ;; esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _dimensioner dimensioner`;
}

function fish(verbs: readonly Verb[]): string {
  const names = [...verbs.map(({ name }) => name), "completion"];
  return [
    `complete -c dimensioner -n __fish_use_subcommand -f -a "${names.join(" ")}"`,
    ...verbs.flatMap(({ name, options }) =>
      Object.entries(options).map(
        ([option, { type, choices }]) =>
          `complete -c dimensioner -n "__fish_seen_subcommand_from ${name}" -l ${option}` +
          (type === "string" ? " -r" : "") +
          (choices === undefined ? "" : ` -f -a "${choices.join(" ")}"`),
      ),
    ),
  ].join("\n");
}

await main(process.argv.slice(2));
