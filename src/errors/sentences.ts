import type { Outcome, Surface } from "./codes.ts";
import { billing } from "./billing-sentences.ts";
import { buckets } from "./bucket-sentences.ts";
import { connections } from "./connection-sentences.ts";
import { files } from "./file-sentences.ts";
import { nodes } from "./node-sentences.ts";
import { postgres } from "./postgres-sentences.ts";
import { refusals } from "./refusal-sentences.ts";
import { responses } from "./response-sentences.ts";
import type { Sentence, Wording } from "./sentence.ts";
import { scans } from "./scan-sentences.ts";
import { settings } from "./setting-sentences.ts";
import { stores } from "./store-sentences.ts";

export type { Sentence } from "./sentence.ts";

const entries = {
  ...settings,
  ...connections,
  ...refusals,
  ...responses,
  ...files,
  ...stores,
  ...postgres,
  ...buckets,
  ...scans,
  ...billing,
  ...nodes,
};

export type SentenceKey = keyof typeof entries;

/** All sentences. The types ensure that no key is in two of the parts. */
export const sentences: Readonly<Record<SentenceKey, Sentence>> = entries;

/** A variant of a sentence; i18next calls this a context. */
type Variant = "cloud" | "unknownOutcome";

/** The key of a text in the catalogs, under `errors` and `hints`. */
export type TextKey = SentenceKey | `${SentenceKey}_${Variant}`;

/** The variant for the surface and the outcome of an error. */
export function wordingOf(
  key: SentenceKey,
  surface: Surface,
  outcome: Outcome | null,
): Wording & { readonly textKey: TextKey } {
  const sentence = sentences[key];
  if (outcome === "unknown" && sentence.unknownOutcome !== undefined) {
    return { ...sentence.unknownOutcome, textKey: `${key}_unknownOutcome` };
  }
  const isService = surface === "cloud" || surface === "timestamp-server";
  if (isService && sentence.cloud !== undefined) {
    return { ...sentence.cloud, textKey: `${key}_cloud` };
  }
  return { ...sentence, textKey: key };
}

/** All texts as the nodes use them, by key: the content of the English catalog. */
export const nodeWordings: ReadonlyMap<TextKey, { readonly text: string; readonly hint: string }> = new Map(
  (Object.keys(sentences) as SentenceKey[]).flatMap((key) => {
    const { cloud, unknownOutcome } = sentences[key];
    const wordings: [TextKey, Wording | undefined][] = [
      [key, sentences[key]],
      [`${key}_cloud`, cloud],
      [`${key}_unknownOutcome`, unknownOutcome],
    ];
    return wordings.flatMap(([textKey, wording]) =>
      wording === undefined
        ? []
        : [[textKey, { text: wording.text, hint: wording.hint, ...wording.inNode }] as const],
    );
  }),
);
