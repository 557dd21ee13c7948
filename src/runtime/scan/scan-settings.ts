import { phrase } from "../../errors/interpolation.ts";
import { applicationIdentifierProblem, patternProblem, readCodeKinds } from "../../rules/scans.ts";
import type { FindReference, ReferenceRule, ReferenceRules } from "../../scan/reference.ts";
import type { SettingsReader } from "../config/settings.ts";

/** The settings of a scan node that concern codes, as they are saved or as a dialog has them. */
export interface CodeSettings {
  readonly which: string;
  readonly ai: string;
  readonly pattern: string;
  readonly symbologies: string;
  readonly invalid: string;
  readonly controls: string;
}

/** The part of these settings that reading one scan needs. A regular expression is compiled when it is first used. */
export interface CodeRules {
  readonly references: () => Promise<ReferenceRules>;
  /** The control codes by their keys, which ignore letter case. */
  readonly controls: ReadonlyMap<string, string>;
}

/** Throws ERR_CONFIG where a setting cannot be used. */
export function readCodeRules(settings: CodeSettings, reader: SettingsReader): CodeRules {
  const kinds = readCodeKinds(settings.symbologies);
  if ("problem" in kinds) {
    throw reader.invalid("symbologies", kinds.problem);
  }
  const ruleOf = readRule(settings, reader);
  const mayBeWrong = settings.invalid === "send";
  return {
    references: async () => ({ rule: await ruleOf(), kinds: kinds.kinds, mayBeWrong }),
    controls: new Map(
      settings.controls
        .split(",")
        .map((code) => code.trim())
        .filter((code) => code !== "")
        .map((code) => [controlKey(code), code]),
    ),
  };
}

export function controlKey(code: string): string {
  return code.trim().toUpperCase();
}

function readRule(
  { which, ai, pattern }: CodeSettings,
  reader: SettingsReader,
): () => Promise<ReferenceRule> {
  switch (which) {
    case "ai": {
      const problem = applicationIdentifierProblem(ai);
      if (problem !== null) {
        throw reader.invalid("ai", problem);
      }
      return async () => ({ which, ai: ai.trim() });
    }
    case "pattern": {
      const problem = pattern === "" ? phrase("empty") : patternProblem(pattern);
      if (problem !== null) {
        throw reader.invalid("pattern", problem);
      }
      let find: FindReference | undefined;
      return async () => ({ which, find: (find ??= await compile(pattern, reader)) });
    }
    case "text":
      return async () => ({ which });
    default:
      return async () => ({ which: "auto" });
  }
}

/** RE2 is loaded with the first expression: Node-RED loads every installed package when it starts, used or not. */
async function compile(pattern: string, reader: SettingsReader): Promise<FindReference> {
  const { compilePattern } = await import("../../scan/reference-pattern.ts");
  try {
    return compilePattern(pattern);
  } catch {
    throw reader.invalid("pattern", phrase("patternSyntax"));
  }
}
