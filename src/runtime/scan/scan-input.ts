import { allFrames, type Frame } from "../../scan/framing.ts";
import { decodeText } from "../../scan/decode-text.ts";
import { checkLength, scanError, textOf } from "../../scan/read-scans.ts";
import type { Job } from "../action/serve.ts";
import type { Message } from "../messages.ts";
import type { ScanSources } from "./scan-sources.ts";

/**
 * How a node takes what arrives: each message as complete, or as a part of a stream. By itself it takes texts as complete,
 * because the nodes in front have divided them, and bytes as parts, because a connection brings them in any size.
 */
export type Framing = "auto" | "message" | "stream";

/** The scans in a message; none where it is only a part of one. Throws ERR_INPUT. */
export async function framesIn(job: Job, framing: Framing, sources: ScanSources): Promise<readonly Frame[]> {
  const { payload } = job.msg;
  const text = textOf(payload);
  if (framing === "message" || (framing === "auto" && typeof payload === "string")) {
    return framesOf(text);
  }
  if (text === "") {
    throw scanError("scanEmpty");
  }
  const source = sourceOf(job.msg);
  if (!Buffer.isBuffer(payload)) {
    return sources.collect(`text ${source}`, text, job);
  }
  // As Latin-1, in which each byte is a character: a part can end within one of UTF-8.
  const frames = await sources.collect(`bytes ${source}`, payload.toString("latin1"), job);
  return frames.map(({ raw, body }) => ({ raw: fromLatin1(raw), body: fromLatin1(body) }));
}

function framesOf(text: string): readonly Frame[] {
  const frames = allFrames(text);
  if (frames.length === 0) {
    throw scanError("scanEmpty");
  }
  return frames.map(checkLength);
}

function fromLatin1(text: string): string {
  return /[\x80-\xff]/.test(text) ? decodeText(Buffer.from(text, "latin1")) : text;
}

/** Which scanner it is from, as far as the nodes that receive say: connection, address, port, topic. */
export function sourceOf(msg: Message): string {
  const { topic, ip, port } = msg;
  return JSON.stringify(
    [sessionOf(msg).id, ip, port, topic].map((part) => (isPlain(part) ? String(part).slice(0, 200) : "")),
  );
}

function sessionOf(msg: Message): { readonly id?: unknown } {
  const session: unknown = Reflect.get(msg, "_session");
  return typeof session === "object" && session !== null ? session : {};
}

function isPlain(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}
