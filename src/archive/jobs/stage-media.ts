import { basename, extname } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { verbatim, phrase, type Phrase } from "../../errors/interpolation.ts";
import type { Download } from "../../model/download.ts";
import { asFileError, diskFacts } from "../archive-disk.ts";
import type { ArchiveRoot } from "../archive-root.ts";
import { openPlain } from "../packages/package-files.ts";
import type { StoredItem } from "../packages/records.ts";
import { claimBase, storeItem } from "./store-item.ts";

/** A medium that a message brings: its bytes, or a file that one of the fetch nodes has saved. */
export interface GivenMedium {
  readonly content: Uint8Array | { readonly path: string; readonly bytes: number; readonly sha256: string };
  readonly contentType: string | null;
  readonly contentId: string | null;
  readonly description: string | null;
  /** A name with or without folders and extension. */
  readonly filename: string | null;
}

const pieceBytes = 256 * 1024;
const never = new AbortController().signal;

/**
 * Brings a message's media into the job's work folder. Files are copied, not linked: a link would change with whatever
 * a flow later writes into the original.
 */
export async function stageMedia(
  root: ArchiveRoot,
  jobId: string,
  media: readonly GivenMedium[],
  { used, slot }: { used: Set<string>; slot: string },
): Promise<Map<string, StoredItem>> {
  const items = new Map<string, StoredItem>();
  for (const [index, medium] of media.entries()) {
    items.set(media.length === 1 ? slot : `${slot}.${index}`, await stage(root, jobId, medium, used));
  }
  return items;
}

async function stage(
  root: ArchiveRoot,
  jobId: string,
  medium: GivenMedium,
  used: Set<string>,
): Promise<StoredItem> {
  const { content, contentId, description } = medium;
  const path = content instanceof Uint8Array ? null : content.path;
  const base = claimBase(used, description ?? stemOf(medium.filename ?? path) ?? contentId ?? "item");
  const download =
    content instanceof Uint8Array
      ? sendBytes(content, medium.contentType)
      : sendFile(content.path, medium.contentType, root);
  const item = await storeItem(
    root,
    jobId,
    download,
    { contentId, description, url: null, base },
    { surface: "disk", host: "msg.payload", signal: never },
  );
  if (!(content instanceof Uint8Array) && (content.sha256 !== item.sha256 || content.bytes !== item.bytes)) {
    // Whoever names a file has to know what is in it: no message makes the archive copy what it could not read.
    await root.disk.unlink(`${root.work.of(jobId)}/${item.path}`).catch(() => undefined);
    throw refuse(content.path, phrase("fileChanged"));
  }
  return item;
}

function stemOf(filename: string | null): string | null {
  if (filename === null) {
    return null;
  }
  const name = basename(filename.replaceAll("\\", "/"));
  return name.slice(0, name.length - extname(name).length) || null;
}

function sendBytes(bytes: Uint8Array, contentType: string | null): Download {
  return async (sink) => {
    const drained = drainsOf(sink);
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      if (!sink.write(bytes.subarray(at, at + pieceBytes))) {
        await drained();
      }
    }
    return { contentType, framing: "length", bytes: bytes.length };
  };
}

function sendFile(path: string, contentType: string | null, root: ArchiveRoot): Download {
  return async (sink) => {
    const drained = drainsOf(sink);
    try {
      const file = await openPlain(path, root.disk);
      if (file === undefined) {
        throw refuse(path, phrase("notSaved"));
      }
      try {
        let bytes = 0;
        for (;;) {
          const piece = Buffer.allocUnsafe(pieceBytes);
          const { bytesRead } = await file.read(piece, 0, piece.length, bytes);
          if (bytesRead === 0) {
            return { contentType, framing: "length", bytes };
          }
          bytes += bytesRead;
          if (!sink.write(piece.subarray(0, bytesRead))) {
            await drained();
          }
        }
      } finally {
        await file.close();
      }
    } catch (error) {
      throw asFileError(error, path);
    }
  };
}

/** Waits until the sink takes more; rejects with what the disk says. */
function drainsOf(sink: Parameters<Download>[0]): () => Promise<void> {
  let resume: (() => void) | undefined;
  let fail: ((error: Error) => void) | undefined;
  let failure: Error | undefined;
  let isDrained = false;
  sink.onDrain = () => {
    isDrained = true;
    resume?.();
  };
  sink.onError = (error) => {
    failure = error;
    fail?.(error);
  };
  return async () => {
    if (failure !== undefined) {
      throw failure;
    }
    if (!isDrained) {
      await new Promise<void>((resolve, reject) => {
        resume = resolve;
        fail = reject;
      });
    }
    isDrained = false;
  };
}

function refuse(value: string, problem: Phrase): DimensionerError {
  const field = verbatim("msg.payload.path");
  return new DimensionerError("inputValue", diskFacts, { field, value, problem });
}
