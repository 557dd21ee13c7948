import type { ErrorCode } from "../../../src/errors/dimensioner-error.ts";
import type { IfExists } from "../../../src/media/place-file.ts";

/** Where a file is to go, and what stands there. The content is the same video in every row. */
export interface DiskRow {
  /** Below the test's own folder; the folder itself. */
  readonly folder?: "missing" | "a file" | "a link to a folder";
  readonly filename?: string;
  readonly ifExists?: IfExists;
  /** What is under the file's name before. */
  readonly there?: "other content" | "the same content";
  /** A link of this name in the folder that leads out of it. */
  readonly link?: string;
  /** The code with which a call to the disk fails; tested with the sources only, not with the nodes. */
  readonly refuses?: { readonly call: string; readonly code: string };
  readonly code?: ErrorCode;
  readonly retryable?: boolean;
  /** How many requests reach the peer: none if the name is not valid. Default 1. */
  readonly requests?: number;
  /** Where the file is afterwards, below the folder. Default "video.mp4". */
  readonly saved?: string;
}

const refused = (filename: string): DiskRow => ({ filename, code: "ERR_INPUT", requests: 0 });
const named = (filename: string, saved: string): DiskRow => ({ filename, saved });
const fault = (call: string, code: string, retryable: boolean): DiskRow => ({
  refuses: { call, code },
  code: "ERR_FILE",
  retryable,
});

/** Disks and names. */
export const disk: Readonly<Record<string, DiskRow>> = {
  "all is well": {},
  "the disk is full in the middle": fault("file.writev", "ENOSPC", true),
  "the disk is full at the last moment": fault("file.sync", "ENOSPC", true),
  "the quota is used up": fault("file.writev", "EDQUOT", true),
  "no write permission in the folder": fault("open", "EACCES", false),
  "the disk is read-only": fault("open", "EROFS", false),
  "the disk reports an I/O error": fault("file.writev", "EIO", true),
  "the folder is missing, such as a share that is not mounted": {
    folder: "missing",
    code: "ERR_FILE",
    retryable: true,
    requests: 0,
  },
  "a file has the name of the folder": { folder: "a file", code: "ERR_FILE", requests: 0 },
  "the folder is a link to one": { folder: "a link to a folder" },
  "the name is taken by other content, rename": {
    ifExists: "rename",
    there: "other content",
    saved: "video (1).mp4",
  },
  "the name is taken by other content, replace": { ifExists: "replace", there: "other content" },
  "the name is taken by other content, error": {
    ifExists: "error",
    there: "other content",
    code: "ERR_FILE",
  },
  "the same content is there, rename": { ifExists: "rename", there: "the same content" },
  "the same content is there, replace": { ifExists: "replace", there: "the same content" },
  "the same content is there, error": { ifExists: "error", there: "the same content" },
  "a link in the folder that leads out": {
    link: "out",
    filename: "out/video.mp4",
    code: "ERR_FILE",
    requests: 0,
  },
  "a name with ../": refused("../video.mp4"),
  "a name with ../ in the middle": refused("a/../../video.mp4"),
  "a name with ..\\": refused("..\\video.mp4"),
  "a name that begins with /": refused("/tmp/video.mp4"),
  "a name on a drive": refused("C:\\video.mp4"),
  "a name on a share": refused("\\\\server\\share\\video.mp4"),
  "a name with NUL": refused("video\0.mp4"),
  "a name of dots": refused(".."),
  "a name with \\": named("2026\\11\\video.mp4", "2026/11/video.mp4"),
  "a name with sub-folders": named("2026/11/video.mp4", "2026/11/video.mp4"),
  "a name with CR LF": named("a\r\nX: y.mp4", "a__X_ y.mp4"),
  "a name of 300 characters": named(`${"x".repeat(300)}.mp4`, `${"x".repeat(246)}.mp4`),
  "a name with an emoji": named("📦 Größe.mp4", "📦 Größe.mp4"),
  "a name that looks like another in Unicode": named("e\u0301.mp4", "\u00e9.mp4"),
  "a name that Windows reserves": named("CON.mp4", "_CON.mp4"),
  "a name that ends in dots": named("video...", "video_"),
  "an empty name": { filename: "", saved: "905865-film.mp4" },
};
