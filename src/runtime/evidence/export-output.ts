import type { NodeAPI } from "node-red";
import type { ExportResult, ExportTarget } from "../../evidence/export/export-packages.ts";
import { type Language, languages } from "../../rules/languages.ts";
import type { readOutput } from "../action/output.ts";
import type { Job } from "../action/serve.ts";
import type { Message } from "../messages.ts";
import { languageOf } from "../status/translate.ts";

/** As for other media: Node-RED copies a Buffer for every wire. */
const largestBufferBytes = 256 * 1024 * 1024;

/** Where an export goes, as the dialog says it. */
export function targetOf(output: Awaited<ReturnType<typeof readOutput>>): ExportTarget {
  return output === "buffer" ? { limitBytes: largestBufferBytes } : output;
}

/** The language that was chosen, or that of Node-RED. */
export function languageFor(RED: NodeAPI, chosen: Language | "auto"): Language {
  const own = languageOf(RED);
  return chosen === "auto" ? (languages.find((one) => one === own) ?? "en-US") : chosen;
}

/** Puts an export on the message, and what was found when its packages were verified. */
export function putExport({ msg, status }: Job, { output, verification }: ExportResult): Message {
  const { findingCount } = verification;
  const bytes = "content" in output ? output.content.byteLength : output.bytes;
  if (findingCount > 0) {
    status.say("failed", "findings", { count: findingCount });
  } else {
    status.say("done", "content" in output ? "fetched" : "saved", { size: { bytes } });
  }
  msg["verification"] = verification;
  if ("content" in output) {
    msg.payload = Buffer.from(output.content.buffer);
    msg["contentType"] = "application/zip";
    msg["filename"] = output.filename;
  } else {
    msg.payload = output;
    msg["filename"] = output.path;
  }
  return msg;
}
