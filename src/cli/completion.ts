import { UsageError, type Verb } from "./command-line.ts";

export const shells = ["bash", "zsh", "fish"] as const;

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
