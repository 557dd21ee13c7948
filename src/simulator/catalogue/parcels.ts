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
 * bwip-js. Videos were drawn with a caption in their upper 24 rows, and encoded again without it by ffmpeg 5.1:
 *
 *     ffmpeg -i drawn.mp4 -vf delogo=3:2:49:23,delogo=145:2:173:23,crop=320:224:0:16 \
 *       -c:v libx264 -profile:v baseline -preset veryslow -crf 32.4 \
 *       -x264-params ref=1:keyint=infinite:scenecut=0:subme=0 -bsf:v filter_units=remove_types=6 \
 *       -movflags +faststart -map_metadata -1 -fflags +bitexact cube.mp4
 *
 * The caption that `film-caption.ts` adds needs it so: one slice in each picture, one earlier picture to refer to, CAVLC. What
 * refers to points above the picture shows the caption there: without `subme=0` a few do.
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

/** A value and its GS1 application identifier. */
type Element = readonly [ai: string, value: string];

/** The two codes on each label of the catalogue. */
export const labelSymbologies = ["gs1-128", "gs1-datamatrix"] as const;
export type LabelSymbology = (typeof labelSymbologies)[number];

/** How FNC1 behind a value of variable length is sent. */
export const groupSeparator = "\x1d";

/**
 * The elements of a label's codes. The barcode contains the number of the parcel; the Data Matrix also contains order
 * number, gross weight in kilograms, and length, width and height in metres.
 */
function labelElements(parcel: Parcel, symbology: LabelSymbology): readonly Element[] {
  const { barcode, weightKg, lengthCm, widthCm, heightCm } = parcel;
  const sscc: Element = ["00", barcode];
  if (symbology === "gs1-128") {
    return [sscc];
  }
  const digits = (count: number): string => String(Math.round(count)).padStart(6, "0");
  return [
    sscc,
    ["400", orderNumber(parcel)],
    // The last digit of these identifiers says how many decimals the value has.
    ["3302", digits(weightKg * 100)],
    ["3313", digits(lengthCm * 10)],
    ["3323", digits(widthCm * 10)],
    ["3333", digits(heightCm * 10)],
  ];
}

/** The number of the customer's order. */
function orderNumber({ barcode }: Parcel): string {
  return `PO-${barcode.slice(-6, -1)}`;
}

/** The content of a code of the label: its elements, with FNC1 behind each whose length is not predefined. */
export function labelText(parcel: Parcel, symbology: LabelSymbology): string {
  return labelElements(parcel, symbology)
    .map(([ai, value]) => `${ai}${value}${ai === "400" ? groupSeparator : ""}`)
    .join("");
}
