/** The saved properties of `dimensioner-measure` and what they are when nothing is said. */
export interface MeasureProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  device: string;
  /** Name of the message property that names a deployed device; blank = always `device`. */
  deviceFrom: string;
  transactionReference: string;
  transactionReferenceType: string;
  customReference1: string;
  customReference1Type: string;
  customReference2: string;
  customReference2Type: string;
  customReference3: string;
  customReference3Type: string;
  /** Where a failed measurement goes: to the Catch node or to a second output. */
  failures: "catch" | "output";
}

export const defaults: MeasureProperties = {
  version: 1,
  name: "",
  device: "",
  deviceFrom: "",
  transactionReference: "transactionReference",
  transactionReferenceType: "msg",
  customReference1: "",
  customReference1Type: "str",
  customReference2: "",
  customReference2Type: "str",
  customReference3: "",
  customReference3Type: "str",
  failures: "catch",
};
