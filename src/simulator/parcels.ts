import { nearest, openCatalogue, type Parcel, type PictureKind } from "./catalogue/index.ts";
import { captionedFilm } from "./film-caption.ts";
import { bytesContent, videoContent, type Content } from "./responses.ts";

/** A parcel on a device's table. With an `errorCode` other than 0 every measurement of it fails. */
export interface TableParcel {
  /** Its name in the catalogue; null for a custom parcel. */
  readonly name: string | null;
  readonly lengthCm: number;
  readonly widthCm: number;
  readonly heightCm: number;
  readonly weightKg: number;
  readonly barcode: string;
  readonly rotationAngle: number;
  readonly errorCode: number;
  readonly errorMessage: string;
  /** The parcel of the catalogue that its pictures show. */
  readonly pictured: Parcel;
}

/** A custom parcel; its images are those of the most similar parcel in the catalogue. */
export interface CustomParcel {
  readonly lengthCm: number;
  readonly widthCm: number;
  readonly heightCm: number;
  readonly weightKg: number;
  readonly barcode?: string;
  readonly rotationAngle?: number;
  readonly errorCode?: number;
  readonly errorMessage?: string;
}

export interface Parcels {
  readonly names: readonly string[];
  /**
   * Finds a parcel by its name in the catalogue, or returns the given one; null for an empty table. Throws for an
   * unknown name.
   */
  find(parcel: string | CustomParcel | null): TableParcel | null;
  /** The parcel of the catalogue with this barcode. */
  byBarcode(barcode: string): TableParcel | null;
  /** The parcel of the catalogue at a position from 0 up to 1. */
  pick(chance: number): TableParcel;
  /** An image of a parcel. */
  image(parcel: TableParcel, kind: PictureKind): Content;
  /**
   * A video of the parcel that says when it begins, and `recorded` where players do not look; `totalBytes` long, if that is not too
   * short for it.
   */
  video(parcel: TableParcel | null, begins: Date, recorded: string, totalBytes?: number): Content;
}

export const imageKinds = ["annotated", "color", "depth"] as const;
export type ImageKind = (typeof imageKinds)[number];

const imageTypes: Readonly<Record<PictureKind, string>> = {
  annotated: "image/jpeg",
  color: "image/jpeg",
  depth: "image/bmp",
  label: "image/png",
  video: "video/mp4",
};

/** The MIME type of a kind of image. */
export function imageType(kind: ImageKind): string {
  return imageTypes[kind];
}

const ok = { errorCode: 0, errorMessage: "" } as const;

/** Opens the parcels of the catalogue for the tables of the simulated devices. */
export function openParcels(videoBytes: number | undefined): Parcels {
  const catalogue = openCatalogue();
  const contents = new Map<string, Content>();
  const [first] = catalogue.parcels;
  if (first === undefined) {
    throw new Error("The catalogue is empty.");
  }

  const known = (parcel: Parcel): TableParcel => ({ ...parcel, ...ok, pictured: parcel });
  return {
    names: catalogue.parcels.map((parcel) => parcel.name),
    find(parcel) {
      if (parcel === null) {
        return null;
      }
      if (typeof parcel !== "string") {
        const pictured = nearest(catalogue.parcels, parcel);
        const { rotationAngle } = pictured;
        return { name: null, barcode: "", rotationAngle, ...ok, ...parcel, pictured };
      }
      const found = catalogue.parcels.find((one) => one.name === parcel);
      if (found !== undefined) {
        return known(found);
      }
      const names = catalogue.parcels.map((one) => one.name).join(", ");
      throw new Error(`There is no parcel "${parcel}". The catalogue has: ${names}.`);
    },
    byBarcode(barcode) {
      const found = catalogue.parcels.find((one) => one.barcode === barcode);
      return found === undefined ? null : known(found);
    },
    pick: (chance) => known(catalogue.parcels[Math.floor(chance * catalogue.parcels.length)] ?? first),
    image({ pictured }, kind) {
      const key = `${pictured.name} ${kind}`;
      const content = contents.get(key) ?? bytesContent(imageTypes[kind], catalogue.read(pictured, kind));
      contents.set(key, content);
      return content;
    },
    video(parcel, begins, recorded, totalBytes = videoBytes) {
      const film = catalogue.read(parcel?.pictured ?? first, "video");
      return videoContent(() => captionedFilm(film, begins), recorded, totalBytes);
    },
  };
}
