import { spawnSync } from "node:child_process";

/** Runs ffmpeg on raw bytes and returns what it writes to its standard output. */
export function ffmpeg(args: readonly string[], input: Uint8Array = new Uint8Array()): Buffer {
  const run = spawnSync("ffmpeg", ["-v", "error", "-y", ...args], { input, maxBuffer: 256 * 1024 * 1024 });
  if (run.error !== undefined) {
    throw new Error("ffmpeg could not be started.", { cause: run.error });
  }
  if (run.status !== 0) {
    throw new Error(`ffmpeg failed: ${run.stderr.toString().trim()}`);
  }
  return run.stdout;
}

interface Text {
  readonly text: string;
  readonly x: number | string;
  readonly y: number | string;
  readonly size: number;
  readonly color?: string;
  /** Draws a filled box of this color behind the text. */
  readonly box?: string;
  readonly font?: string;
}

/** The ffmpeg filter that writes a text. It must hold none of the characters that filters give a meaning. */
export function drawText({
  text,
  x,
  y,
  size,
  color = "black",
  box,
  font = "DejaVu Sans:bold",
}: Text): string {
  if (/[':;,\\%[\]]/.test(text)) {
    throw new Error(`A filter can't hold this text: ${text}`);
  }
  const behind = box === undefined ? "" : `:box=1:boxcolor=${box}:boxborderw=4`;
  const face = font.replace(":", "\\\\:");
  return `drawtext=font=${face}:expansion=none:text='${text}':x=${x}:y=${y}:fontsize=${size}:fontcolor=${color}${behind}`;
}
