import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { packageFile } from "../../package/package-files.ts";
import { catalogueParcels, type Parcel, type Size } from "./parcels.ts";

export { weightLb, type Parcel, type Size } from "./parcels.ts";

/** color and annotated are JPEG, depth is BMP, label is PNG, video is MP4. */
export type PictureKind = "color" | "annotated" | "depth" | "label" | "video";

export interface Catalogue {
  readonly parcels: readonly Parcel[];
  /** Reads the whole file. The buffer is shared: read it, never write to it. */
  read(parcel: Parcel, kind: PictureKind): Buffer;
}

const endings: Readonly<Record<PictureKind, string>> = {
  color: ".color.jpg",
  annotated: ".annotated.jpg",
  depth: ".depth.bmp.gz",
  label: ".label.png",
  video: ".mp4",
};

/**
 * Depth maps are stored compressed, which makes them ten times smaller; pictures and videos are compressed already.
 */
function unpacked(path: string): Buffer {
  const content = readFileSync(path);
  return path.endsWith(".gz") ? gunzipSync(content) : content;
}

/** Opens the parcels and pictures beside this module. A picture is read when it is first requested. */
export function openCatalogue(): Catalogue {
  const contents = new Map<string, Buffer>();
  return {
    parcels: catalogueParcels,
    read(parcel, kind) {
      // Only names of the table become file names, whatever a caller passes.
      const known = catalogueParcels.find((one) => one.name === parcel.name);
      if (known === undefined) {
        throw new Error(`The catalogue has no pictures of "${parcel.name}".`);
      }
      const file = known.name + endings[kind];
      const content = contents.get(file) ?? unpacked(packageFile(join("src/simulator/catalogue", file)));
      contents.set(file, content);
      return content;
    },
  };
}

// The smallest value that a dimensioner with half-unit fidelity reports; it keeps the ratios below finite.
const smallestCm = 0.5;

/** Length, width and height as ratios to their common size, so that only the shape counts. */
function shape(size: Size): readonly number[] {
  const onTable = [size.lengthCm, size.widthCm].toSorted((a, b) => b - a);
  const logs = [...onTable, size.heightCm].map((cm) => Math.log(Math.max(cm, smallestCm)));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  return logs.map((log) => log - mean);
}

/** The parcel closest in shape to a size that has no pictures of its own. `parcels` must not be empty. */
export function nearest(parcels: readonly Parcel[], size: Size): Parcel {
  const wanted = shape(size);
  const distance = (parcel: Parcel): number =>
    shape(parcel).reduce((sum, ratio, axis) => sum + (ratio - (wanted[axis] ?? 0)) ** 2, 0);
  return parcels.reduce((best, parcel) => (distance(parcel) < distance(best) ? parcel : best));
}
