// Answers with the list of the files of a package in the history (output 1), or with the path of one of them (output 2).
// Both are found by their place in what the archive node has reported; nothing in the request becomes part of a path. What
// comes from a browser cannot pass for such a report: see “From the page”, and “proof” in “Station”.
import type { FunctionNode } from "../../dashboard/function-node.ts";
import { evidencePage } from "../evidence-page.ts";
import type { EvidenceOf, HttpMessage, StationEnv, StationFlow } from "../types.ts";

export function onMessage(
  msg: HttpMessage,
  { flow, env }: FunctionNode<StationFlow, StationEnv>,
): [HttpMessage | null, HttpMessage | null] {
  const language = env.get("LANGUAGE");
  const texts = flow.get("texts");
  const all = Object.values(flow.get("stations") ?? {}).flatMap(({ history }) => history);
  const { id, file } = msg.req.params;
  const isAsked = (one: EvidenceOf): boolean => one.id === id && one.files.length > 0;
  const parcel = all.find(({ packages }) => packages.some(isAsked));
  const found = parcel?.packages.find(isAsked);
  const chosen = file === undefined ? undefined : found?.files[Number(file)];
  const policy =
    "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox allow-downloads";
  const headers = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": policy,
    "Cache-Control": "private",
  };
  if (chosen !== undefined) {
    msg.filename = chosen.path;
    msg.headers = { ...headers, "Content-Type": chosen.contentType };
    return [null, msg];
  }
  if (parcel === undefined || found === undefined || file !== undefined) {
    msg.statusCode = 404;
    msg.payload = (texts?.[language] ?? texts?.en)?.noEvidence ?? "";
    msg.headers = { ...headers, "Content-Type": "text/plain; charset=utf-8" };
    return [msg, null];
  }
  msg.headers = { ...headers, "Content-Type": "text/html; charset=utf-8" };
  msg.payload = evidencePage(parcel.reference, found, language);
  return [msg, null];
}
