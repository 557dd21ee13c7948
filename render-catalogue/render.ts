/**
 * Draws the pictures of the simulator's parcels into src/simulator/catalogue/. Their results are committed: this runs
 * by hand, when the parcels or the drawing change, and is part of neither build nor tests.
 *
 *   node render-catalogue/render.ts [parcel ...]
 *
 * Needs ffmpeg with libx264, libfreetype and fontconfig, and the DejaVu fonts (on Debian: ffmpeg, fonts-dejavu-core).
 * A small ray tracer draws the scenes, so no browser and no graphics card. The same seed gives the same pixels.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { type Parcel, catalogueParcels } from "../src/simulator/catalogue/parcels.ts";
import { annotate } from "./annotate.ts";
import { benchThings } from "./bench.ts";
import { dimensionerCamera } from "./camera.ts";
import { depthMap } from "./depth.ts";
import { drawText, ffmpeg } from "./ffmpeg.ts";
import { handThings } from "./hands.ts";
import { label } from "./label.ts";
import { parcelThings } from "./parcels.ts";
import { render } from "./trace.ts";
import { smooth, type Vec } from "./vector.ts";

const seed = 20261120;
const catalogueFolder = join(import.meta.dirname, "../src/simulator/catalogue");
const stillFormat = { width: 480, grid: 5, quality: 9 };
const depthWidth = 240;
const videoFormat = { width: 320, grid: 3, framesPerSecond: 12, frames: 30, constantRate: 32 };

function raw(width: number): string[] {
  return ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", `${width}x${(width * 3) / 4}`];
}

function jpeg(pixels: Uint8Array, filters: string): Buffer {
  const output = [
    "-c:v",
    "mjpeg",
    "-q:v",
    `${stillFormat.quality}`,
    "-trellis",
    "1",
    "-pix_fmt",
    "yuvj420p",
    "-bitexact",
    "-f",
    "image2pipe",
    "-",
  ];
  return ffmpeg([...raw(stillFormat.width), "-i", "-", "-vf", filters, ...output], pixels);
}

/** Where the parcel is in the course of the video (0 to 1): carried in, put down, let go. */
function carried(parcel: Parcel, share: number): { at: Vec; apart: number } {
  const way = 1 - smooth(0, 0.42, share);
  return {
    at: [8 * way, 13 * way ** 0.7, 62 * way + parcel.widthCm * 0.3 * way],
    apart: 46 * smooth(0.47, 0.78, share),
  };
}

function video(parcel: Parcel, number: number, place: (at: Vec) => ReturnType<typeof benchThings>): Buffer {
  const bench = benchThings();
  const frames: Uint8Array[] = [];
  for (let frame = 0; frame < videoFormat.frames; frame += 1) {
    const { at, apart } = carried(parcel, frame / (videoFormat.frames - 1));
    const hands = apart < 45 ? handThings(parcel, at, apart) : [];
    frames.push(
      render(
        [...bench, ...place(at), ...hands],
        dimensionerCamera,
        videoFormat.width,
        videoFormat.grid,
        seed,
      ),
    );
  }
  const clock = (frame: number): string => {
    const time = new Date(
      Date.UTC(2026, 8, 14, 9, 12 + number * 7, 8 + number * 5) +
        (frame * 1000) / videoFormat.framesPerSecond,
    );
    return time.toISOString().slice(0, 22).replace("T", "  ").replaceAll(":", "\\\\:");
  };
  const stamp = drawText({ text: "REC", x: 22, y: 8, size: 12, color: "white", box: "black@0.5" });
  const dot = drawText({ text: "●", x: 8, y: 8, size: 12, color: "red", box: "black@0.5" });
  const times = frames.map((_, frame) => {
    const filter = drawText({
      text: "clock",
      x: "w-tw-8",
      y: 8,
      size: 12,
      color: "white",
      box: "black@0.5",
      font: "DejaVu Sans Mono",
    });
    return `${filter.replace("'clock'", clock(frame))}:enable=eq(n\\,${frame})`;
  });
  const folder = mkdtempSync(join(tmpdir(), "catalogue-"));
  try {
    const file = join(folder, "video.mp4");
    const input = [
      ...raw(videoFormat.width),
      "-r",
      `${videoFormat.framesPerSecond}`,
      "-i",
      "-",
      "-vf",
      [stamp, dot, ...times].join(","),
    ];
    const codec = [
      "-c:v",
      "libx264",
      "-preset",
      "veryslow",
      "-crf",
      `${videoFormat.constantRate}`,
      "-pix_fmt",
      "yuv420p",
    ];
    ffmpeg(
      [...input, ...codec, "-threads", "1", "-bitexact", "-movflags", "+faststart", file],
      Buffer.concat(frames),
    );
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const wanted = process.argv.slice(2);
for (const [number, parcel] of catalogueParcels.entries()) {
  if (wanted.length > 0 && !wanted.includes(parcel.name)) {
    continue;
  }
  const { brightness, png } = label(parcel, number);
  const place = parcelThings(parcel, number, brightness);
  const scene = [...benchThings(), ...place([0, 0, 0])];
  const picture = render(scene, dimensionerCamera, stillFormat.width, stillFormat.grid, seed);
  const [outlined, texts] = annotate(picture, stillFormat.width, parcel, dimensionerCamera);
  const files: readonly (readonly [string, Buffer])[] = [
    ["color.jpg", jpeg(picture, "null")],
    ["annotated.jpg", jpeg(outlined, texts)],
    ["depth.bmp.gz", gzipSync(depthMap(scene, dimensionerCamera, depthWidth), { level: 9 })],
    ["label.png", png()],
    ["mp4", video(parcel, number, place)],
  ];
  for (const [ending, content] of files) {
    writeFileSync(join(catalogueFolder, `${parcel.name}.${ending}`), content);
    process.stdout.write(`${parcel.name}.${ending}: ${content.length} bytes\n`);
  }
}
