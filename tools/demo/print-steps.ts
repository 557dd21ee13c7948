import type { Seen } from "./run-flow.ts";

const nameWidth = 46;

/** Prints in plain words what a flow's nodes show, one line for each step, with the seconds since the scan. */
export function stepPrinter(say: (line: string) => void = console.log) {
  const startedAt = performance.now();
  const shown = new Map<string, { readonly fill: string; readonly text: string }>();

  function line(what: string, detail = ""): void {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5);
    say(`${seconds} s  ${what.padEnd(nameWidth)} ${detail}`.trimEnd());
  }

  return {
    /** Prints steps that succeeded, waits and failures; progress is left out. */
    show({ node, event }: Seen): void {
      const name = node.name ?? node.type;
      if (event.kind === "debug") {
        line(name, oneLine(event.text));
        return;
      }
      if (!node.type.startsWith("dimensioner-")) {
        return;
      }
      const last = shown.get(node.id);
      if (event.fill === "blue") {
        // A continuing wait is printed once; a finished step may be repeated.
        if (last?.fill !== "yellow") {
          shown.delete(node.id);
        }
        return;
      }
      if (last?.text === event.text) {
        return;
      }
      shown.set(node.id, event);
      line(name, event.fill === "red" ? `failed: ${event.text}` : event.text);
    },
  };
}

/** The output of a debug node: a text, or the JSON of a file that was saved. */
function oneLine(text: string): string {
  const path = /^\{"path":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  return path === undefined ? text : (JSON.parse(`"${path}"`) as string);
}
