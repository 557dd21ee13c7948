import * as v from "valibot";

const pruned = v.object({
  at: v.string(),
  /** The package's folder below the root, with slashes. */
  path: v.string(),
  /** Of its manifest. */
  sha256: v.string(),
  transactionId: v.string(),
  transactionReference: v.nullable(v.string()),
  archived: v.string(),
  files: v.number(),
  bytes: v.number(),
});

/** One line of the log of deleted packages. */
export type PrunedPackage = v.InferOutput<typeof pruned>;

export function decodePruned(value: unknown): PrunedPackage | undefined {
  const result = v.safeParse(pruned, value, { abortEarly: true });
  return result.success ? result.output : undefined;
}
