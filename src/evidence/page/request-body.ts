import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { jsonText } from "../../model/json-text.ts";
import { recordLimits } from "../../model/parse-json.ts";
import { Refusal } from "./answers.ts";

/** A reason has a few hundred characters. */
const mostBytes = 16_384;
/** How much of a refused body is read, so that its sender receives the response. */
const mostRefusedBytes = 32_000_000;

/** Reads the JSON body of a request. Throws a Refusal. Forms of other sites cannot send JSON. */
export async function readJsonBody<const TSchema extends v.GenericSchema>(
  request: IncomingMessage,
  schema: TSchema,
): Promise<v.InferOutput<TSchema>> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? "")) {
    throw new Refusal(415, "badRequest");
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= mostBytes) {
      chunks.push(chunk);
    } else if (bytes > mostRefusedBytes) {
      break;
    }
  }
  if (bytes > mostBytes) {
    throw new Refusal(413, "badRequest", { connection: "close" });
  }
  const read = v.safeParse(v.pipe(jsonText(recordLimits), schema), Buffer.concat(chunks).toString("utf8"));
  if (!read.success) {
    throw new Refusal(400, "badRequest");
  }
  return read.output;
}
