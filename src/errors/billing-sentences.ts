import type { Sentence } from "./sentence.ts";

/** Why a parcel has no billable weight: sentences for the person who handles it. */
export const billing = {
  billNoMeasurement: {
    code: "ERR_INPUT",
    text: "This is not a measurement. Pass the result of a measurement, or a transaction record.",
    hint: "It is an object with length, width, height and their unit.",
    inNode: {
      text: "There is no measurement in msg.payload. Connect this node after the node that measures.",
      hint: "It must be the result of measure or remote trigger, or the record of transaction in.",
    },
  },
  billFailed: {
    code: "ERR_NOT_BILLABLE",
    text: "The measurement failed, so there is nothing to bill. Measure the parcel again.",
    hint: "The result says why it failed, in errorCode and errorMessage.",
  },
  billSeveral: {
    code: "ERR_NOT_BILLABLE",
    text: "__count__ objects were measured together, and there is only one weight for all of them. Measure each parcel on its own.",
    hint: "A billable weight applies to one parcel.",
  },
  billSides: {
    code: "ERR_NOT_BILLABLE",
    text: "The measurement does not have all three sides of the parcel. Measure the parcel again.",
    hint: "Length, width and height must be numbers above 0.",
  },
  billLengthUnit: {
    code: "ERR_INPUT",
    text: "The sides are in “__value__”, which is not supported. Set the device to one of these units: __choices__.",
    hint: "The unit of the sides is dimsUnitOfMeasure.",
  },
  billWeightUnit: {
    code: "ERR_INPUT",
    text: "The weight is in “__value__”, which is not supported. Set the scale to one of these units: __choices__.",
    hint: "The unit of the measured weight is weightUnitOfMeasure.",
  },
  billNoWeight: {
    code: "ERR_NOT_BILLABLE",
    text: "The weight of the parcel is missing. Weigh the parcel, and measure it again.",
    hint: "Without the actual weight, it is not certain that the size decides. If the device has no scale, the label's weight can be used, or the size alone.",
    inNode: {
      hint: "Without the actual weight, it is not certain that the size decides. Where the weight comes from is set in this node.",
    },
  },
  billNoLabelWeight: {
    code: "ERR_NOT_BILLABLE",
    text: "The label of the parcel does not show its weight. Scan a label with a weight, or weigh the parcel.",
    hint: "The gross weight is in the elements 330n and 340n of a GS1 code.",
    inNode: { hint: "The weight is in msg.scan.labelWeight, which the scan node reads from a GS1 label." },
  },
  billNotLegal: {
    code: "ERR_NOT_BILLABLE",
    text: "This measurement is not legal for trade, so it must not be billed. Switch the device to Legal for Trade, and measure the parcel again.",
    hint: "The device reported that it did not measure in its Legal for Trade mode.",
  },
  billLegalUnknown: {
    code: "ERR_NOT_BILLABLE",
    text: "It is not known whether this measurement is legal for trade, so it must not be billed. Use a result in which the device itself states it.",
    hint: "The cloud's records do not state it, an earlier device states it for the sides only, and for a weight from another source it is never known.",
  },
  billManual: {
    code: "ERR_NOT_BILLABLE",
    text: "The dimensions of this parcel were entered by hand, so they must not be billed. Measure the parcel with the device.",
    hint: "In the record, isManualDimension is true.",
  },
  billNoRule: {
    code: "ERR_INPUT",
    text: "No rule of __name__ is known for __value__, the day of this measurement. Use a custom rule.",
    hint: "The rule depends on the day of the measurement. docs/billable-weight.md lists the date from which each rule applies.",
  },
} as const satisfies Record<string, Sentence>;
