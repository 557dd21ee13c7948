import { allFrames, type Frame } from "../../scan/framing.ts";
import { decodeText } from "../../scan/decode-text.ts";
import { checkLength, scanError, textOf } from "../../scan/read-scans.ts";
import type { Job } from "../action/serve.ts";
import type { Message } from "../messages.ts";
import type { ScanSources } from "./scan-sources.ts";

/**
 * How a node treats messages: each as complete, or as a part of a stream. The default `auto` takes texts as complete,
 * because earlier nodes have divided them, and bytes as parts, because a connection delivers them in any size.
 */
export type Framing = "auto" | "message" | "stream";

/** Reads the scans in a message; none if it is only a part of one. Throws ERR_INPUT. */
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
  // Decoded as Latin-1, in which each byte is a character, because a part may end within a character of UTF-8.
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

/** Identifies the scanner by what the receiving nodes put on the message: connection, address, port, topic. */
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
