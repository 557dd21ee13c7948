import type { MeasureResult } from "./shapes.ts";

/** Which API a measure came from. */
export type MeasureSource = MeasureResult["source"];

/** The host's references of a parcel, which are stored with the transaction and returned in its result. */
export interface References {
  readonly transactionReference?: string | undefined;
  readonly customReference1?: string | undefined;
  readonly customReference2?: string | undefined;
  readonly customReference3?: string | undefined;
}

/** A result and the exact text that it was read from, by which legal-for-trade data can be proved. */
export interface Measurement {
  readonly result: MeasureResult;
  readonly rawResponse: string;
}
