import type { Sentence } from "./sentence.ts";

/** Why a parcel has no billable weight: sentences for the person who handles it. */
export const billing = {
  billNoMeasurement: {
    code: "ERR_INPUT",
    text: "This is no measurement. Give the result of a measurement, or a transaction record.",
    hint: "It is an object with length, width, height and their unit.",
    inNode: {
      text: "What is in msg.payload is no measurement. Connect this node behind the node that measures.",
      hint: "It is the result of measure and remote trigger, and the record of transaction in.",
    },
  },
  billFailed: {
    code: "ERR_NOT_BILLABLE",
    text: "The measurement failed, so there is nothing to bill. Measure the parcel again.",
    hint: "The result says in errorCode and errorMessage why it failed.",
  },
  billSeveral: {
    code: "ERR_NOT_BILLABLE",
    text: "__count__ objects were measured together, and they have only one weight. Measure each parcel on its own.",
    hint: "A billable weight is that of one parcel.",
  },
  billSides: {
    code: "ERR_NOT_BILLABLE",
    text: "The measurement does not have all three sides of the parcel. Measure the parcel again.",
    hint: "Length, width and height must be numbers above 0.",
  },
  billLengthUnit: {
    code: "ERR_INPUT",
    text: "“__value__” is not a unit for sides that is known here. Set the device to one of these: __choices__.",
    hint: "The unit of the sides is dimsUnitOfMeasure.",
  },
  billWeightUnit: {
    code: "ERR_INPUT",
    text: "“__value__” is not a unit for weights that is known here. Set the scale to one of these: __choices__.",
    hint: "The unit of the measured weight is weightUnitOfMeasure.",
  },
  billNoWeight: {
    code: "ERR_NOT_BILLABLE",
    text: "The weight of the parcel is missing. Weigh the parcel, and measure it again.",
    hint: "Without the weight it is not certain that the size decides. A device without a scale can be billed by the label's weight, or by the size alone.",
    inNode: {
      hint: "Without the weight it is not certain that the size decides. Where the weight comes from is set in this node.",
    },
  },
  billNoLabelWeight: {
    code: "ERR_NOT_BILLABLE",
    text: "The label of the parcel does not say its weight. Scan a label with a weight, or weigh the parcel.",
    hint: "The gross weight is in the elements 330n and 340n of a GS1 code.",
    inNode: { hint: "It is msg.scan.labelWeight, which the scan node reads out of a GS1 label." },
  },
  billNotLegal: {
    code: "ERR_NOT_BILLABLE",
    text: "This measurement is not legal for trade, so it must not be billed. Switch the device to Legal for Trade, and measure the parcel again.",
    hint: "The device said that it did not measure in its Legal for Trade mode.",
  },
  billLegalUnknown: {
    code: "ERR_NOT_BILLABLE",
    text: "It is not known whether this measurement is legal for trade, so it must not be billed. Bill it by a result in which the device itself says so.",
    hint: "The cloud's records do not say it. An earlier device says it of the sides only, and nobody says it of a weight from elsewhere.",
  },
  billManual: {
    code: "ERR_NOT_BILLABLE",
    text: "The dimensions of this parcel were typed in by hand, so they must not be billed. Measure the parcel with the device.",
    hint: "The record has isManualDimension.",
  },
  billNoRule: {
    code: "ERR_INPUT",
    text: "The table has no rule of __name__ for __value__, the day of this measurement. Use an own rule.",
    hint: "The rule is chosen by the day of the measurement. docs/billable-weight.md says since when each one is known.",
  },
} as const satisfies Record<string, Sentence>;
