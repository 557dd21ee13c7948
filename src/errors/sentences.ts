import type { Outcome, Surface } from "./details.ts";
import { billing } from "./billing-sentences.ts";
import { connections } from "./connection-sentences.ts";
import { files } from "./file-sentences.ts";
import { nodes } from "./node-sentences.ts";
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
  ...scans,
  ...billing,
  ...nodes,
};

export type SentenceKey = keyof typeof entries;

/** Every way to fail, in words. The types of the parts hold no key twice. */
export const sentences: Readonly<Record<SentenceKey, Sentence>> = entries;

/** Another wording of the same sentence; i18next calls this a context. */
type Variant = "cloud" | "unknownOutcome";

/** Below which key, of `errors` and of `hints`, the catalogs have a wording. */
export type TextKey = SentenceKey | `${SentenceKey}_${Variant}`;

/** The words for where it happened and for what it left behind. */
export function wordingOf(
  key: SentenceKey,
  surface: Surface,
  outcome: Outcome | null,
): Wording & { readonly textKey: TextKey } {
  const sentence = sentences[key];
  if (outcome === "unknown" && sentence.unknownOutcome !== undefined) {
    return { ...sentence.unknownOutcome, textKey: `${key}_unknownOutcome` };
  }
  if (surface === "cloud" && sentence.cloud !== undefined) {
    return { ...sentence.cloud, textKey: `${key}_cloud` };
  }
  return { ...sentence, textKey: key };
}

/** Every wording as the nodes say it, by its key: what the English catalog holds. */
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
