import { errorCodes, type ErrorCode } from "../../src/errors/codes.ts";
import { nodeWordings, sentences, type SentenceKey } from "../../src/errors/sentences.ts";
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
    "`cause.outcome` and `cause.retryable`: the sentences are for people and may change at any time.",
    "",
    "| outcome | what happened to the command | what to do |",
    "| --- | --- | --- |",
    "| `not-sent` | it was certainly not executed | send the message again |",
    "| `refused` | nothing was executed: the device or the cloud refused it | correct what it names |",
    "| `failed` | it was executed, and the device reports a failure | reposition the parcel |",
    "| `unknown` | it may have been executed | check the device first |",
    "| null | there was no command: something was read or saved | |",
    "",
    "`cause.retryable` is true only if sending the same message again is safe and may help: never after `failed` and",
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
      ...sentencesOf(code).map(({ text, isRetryable }) => `- ${format(text)}${isRetryable ? " ↻" : ""}`),
    ]),
    "",
    "↻: the same request may succeed later with nothing changed. Words in _italics_ are filled in. The nodes show these sentences in the",
    "language of the Node-RED server, if there is a translation. The [library](typescript.md) uses English, and speaks of options where",
    "the nodes have settings; its error's `details` are what flows find in `msg.error.cause`.",
    "",
  ].join("\n");
}

/** Every text of the sentences of a code, as the nodes use them. */
function sentencesOf(code: ErrorCode): { text: string; isRetryable: boolean }[] {
  return [...nodeWordings].flatMap(([textKey, { text }]) => {
    const [key = "", variant] = textKey.split("_");
    const sentence = sentences[key as SentenceKey];
    const isRetryable = sentence.retryable === true && variant !== "unknownOutcome";
    return sentence.code === code ? [{ text, isRetryable }] : [];
  });
}

function sayOutcomes(code: ErrorCode): string {
  const { outcomes } = errorFacts[code];
  return outcomes.length === 0 ? "–" : outcomes.map((outcome) => `\`${outcome}\``).join(", ");
}

function sayRetryable(code: ErrorCode): string {
  const passing = new Set(
    Object.values(sentences)
      .filter((sentence) => sentence.code === code)
      .map(({ retryable }) => retryable === true),
  );
  if (!passing.has(true)) {
    return "no";
  }
  const { outcomes } = errorFacts[code];
  const unsafe = outcomes.filter((outcome) => outcome === "failed" || outcome === "unknown");
  const who = unsafe.length === outcomes.length ? "reads" : "all but `unknown`";
  const parts = [
    ...(unsafe.length > 0 ? [who] : []),
    ...(passing.has(false) ? ["where it may help (↻)"] : []),
  ];
  return parts.length === 0 ? "yes" : parts.join(", ");
}

/** A sentence with its placeholders in italics. */
function format(text: string): string {
  return text.replace(/__(\w+?)__/g, "_$1_");
}
