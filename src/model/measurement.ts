import type { MeasureResult } from "./shapes.ts";

/** Which API a measure came from. */
export type MeasureSource = MeasureResult["source"];

/** What the host says of a parcel; kept with the transaction and returned in its result. */
export interface References {
  readonly transactionReference?: string | undefined;
  readonly customReference1?: string | undefined;
  readonly customReference2?: string | undefined;
  readonly customReference3?: string | undefined;
}

/** A measure's result and the exact text it was read from, which legal-for-trade data must stay provable by. */
export interface Measurement {
  readonly result: MeasureResult;
  readonly rawResponse: string;
}
