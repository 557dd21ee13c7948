// Answers with a picture that is kept in memory. An ID names nothing else: no file, no address.
import type { FunctionNode } from "../../dashboard/function-node.ts";
import type { HttpMessage, StationFlow } from "../types.ts";

export function onMessage(msg: HttpMessage, { flow }: FunctionNode<StationFlow>) {
  const pictures = flow.get("pictures") ?? {};
  const { id } = msg.req.params;
  const picture = Object.hasOwn(pictures, id) ? pictures[id] : undefined;
  if (picture === undefined) {
    msg.statusCode = 404;
    msg.payload = "";
    return msg;
  }
  msg.payload = Buffer.from(picture.bytes);
  msg.headers = {
    "Content-Type": picture.contentType,
    "Cache-Control": "private, max-age=86400, immutable",
    "X-Content-Type-Options": "nosniff",
  };
  return msg;
}
