import { errorCodes, type ErrorCode } from "../../src/errors/codes.ts";
import { sentences } from "../../src/errors/sentences.ts";
import { errorFacts } from "./error-facts.ts";

/** docs/errors.md, from the codes and their sentences. */
export function writeErrorPage(): string {
  return [
    "<!-- Written by tools/write-docs.ts from the sources: change those, not this page. -->",
    "",
    "# Errors",
    "",
    "Every error of every node ends at a **Catch** node: `msg.error.code` is one of the codes below, `msg.error.message` says what",
    "happened and what to do, `msg.error.cause` has the rest ([its fields](messages.md#errordetails)). Decide by `code`,",
    "`cause.outcome` and `cause.retryable`; sentences are for people and may be worded better at any time.",
    "",
    "| outcome | what the command did | so |",
    "| --- | --- | --- |",
    "| `not-sent` | nothing, certainly | send the message again |",
    "| `refused` | nothing: the device or the cloud said no | correct what it names |",
    "| `failed` | it was executed, and the device reports a failure | place the parcel again |",
    "| `unknown` | it may have been executed | look at the machine first |",
    "| null | there was no command: something was read or saved | |",
    "",
    "`cause.retryable` is true only where sending the same message again is safe and may help: never after `failed` and",
    "`unknown`. No node repeats a command by itself; reads are repeated for a while before they end in an error.",
    "",
    "| code | outcome of a command | retryable |",
    "| --- | --- | --- |",
    ...errorCodes.map(
      (code) => `| [${code}](#${code.toLowerCase()}) | ${sayOutcomes(code)} | ${sayRetryable(code)} |`,
    ),
    ...errorCodes.flatMap((code) => [
      "",
      `## ${code}`,
      "",
      errorFacts[code].when,
      "",
      `**What to do:** ${errorFacts[code].remedy}`,
      "",
      ...sentencesOf(code).map(({ text, passes }) => `- ${say(text)}${passes === true ? " ↻" : ""}`),
    ]),
    "",
    "↻: can pass by itself. _Slanted_ words are filled in. The sentences come in the language of the Node-RED server, where there is",
    "a translation.",
    "",
  ].join("\n");
}

function sentencesOf(code: ErrorCode) {
  return Object.values(sentences).filter((sentence) => sentence.code === code);
}

function sayOutcomes(code: ErrorCode): string {
  const { outcomes } = errorFacts[code];
  return outcomes.length === 0 ? "–" : outcomes.map((outcome) => `\`${outcome}\``).join(", ");
}

function sayRetryable(code: ErrorCode): string {
  const passing = sentencesOf(code).map(({ passes }) => passes === true);
  if (!passing.includes(true)) {
    return "no";
  }
  const { outcomes } = errorFacts[code];
  const unsafe = outcomes.filter((outcome) => outcome === "failed" || outcome === "unknown");
  const who = unsafe.length === outcomes.length ? "reads" : "all but `unknown`";
  const parts = [
    ...(unsafe.length > 0 ? [who] : []),
    ...(passing.includes(false) ? ["where it can pass (↻)"] : []),
  ];
  return parts.length === 0 ? "yes" : parts.join(", ");
}

/** A sentence with its marks as slanted words. */
function say(text: string): string {
  return text.replace(/__(\w+?)__/g, "_$1_");
}
