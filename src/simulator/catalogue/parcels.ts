/**
 * The box that a dimensioner reports, in centimetres: the longer side on the table, the shorter one, and the height.
 */
export interface Size {
  readonly lengthCm: number;
  readonly widthCm: number;
  readonly heightCm: number;
}

/**
 * One parcel of the catalogue, as the simulated device measures, weighs and scans it. Sizes are in steps of 0.5 cm.
 */
export interface Parcel extends Size {
  /** Identifies the parcel; its picture files start with it. */
  readonly name: string;
  readonly title: string;
  /** 18 digits, the last one a check digit: a GS1 SSCC in the range that is kept free for examples (952). */
  readonly barcode: string;
  readonly weightKg: number;
  /** The rotation of the parcel on the platform in degrees. */
  readonly rotationAngle: number;
}

/**
 * The parcels the simulator knows. The pictures beside this file were drawn from this table by a small ray tracer, with labels by
 * bwip-js and videos by ffmpeg.
 */
export const catalogueParcels: readonly Parcel[] = [
  {
    name: "shoe-box",
    title: "Shoe box",
    barcode: "395212340000004173",
    lengthCm: 33.5,
    widthCm: 21,
    heightCm: 12.5,
    weightKg: 1.27,
    rotationAngle: 14.2,
  },
  {
    name: "cube",
    title: "Cube",
    barcode: "395212340000005323",
    lengthCm: 20,
    widthCm: 20,
    heightCm: 20,
    weightKg: 1.86,
    rotationAngle: 31.7,
  },
  {
    name: "flat-carton",
    title: "Flat carton",
    barcode: "395212340000006290",
    lengthCm: 35,
    widthCm: 25,
    heightCm: 4.5,
    weightKg: 0.98,
    rotationAngle: 6.5,
  },
  {
    name: "tube-box",
    title: "Long tube box",
    barcode: "395212340000007181",
    lengthCm: 76.5,
    widthCm: 10.5,
    heightCm: 10.5,
    weightKg: 1.13,
    rotationAngle: 22.4,
  },
  {
    name: "polybag",
    title: "Polybag mailer",
    barcode: "395212340000008058",
    lengthCm: 38,
    widthCm: 29.5,
    heightCm: 6.5,
    weightKg: 0.64,
    rotationAngle: 9.8,
  },
  {
    name: "shipping-carton",
    title: "Shipping carton",
    barcode: "395212340000009345",
    lengthCm: 60,
    widthCm: 40,
    heightCm: 39.5,
    weightKg: 9.42,
    rotationAngle: 3.1,
  },
];

const kgPerLb = 0.45359237;

/** The weight as the device reports it: pounds with two decimals. */
export function weightLb(parcel: Pick<Parcel, "weightKg">): number {
  return Math.round((parcel.weightKg / kgPerLb) * 100) / 100;
}
