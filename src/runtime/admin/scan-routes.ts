import type { NodeAPI } from "node-red";
import * as v from "valibot";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Scan } from "../../model/shapes.ts";
import { allFrames } from "../../scan/read-code.ts";
import { readFlag } from "../../rules/flags.ts";
import { readFrame, scanError } from "../../scan/read-scans.ts";
import { chooseReference } from "../../scan/reference.ts";
import { SettingsReader } from "../config/settings.ts";
import { readCodeRules } from "../scan/scan-settings.ts";
import { type EditorSentence, answerWith, fieldText, readBody, sayError } from "./admin-route.ts";

const requestSchema = v.object({
  which: fieldText,
  ai: fieldText,
  pattern: fieldText,
  symbologies: fieldText,
  invalid: fieldText,
  controls: fieldText,
  noReads: fieldText,
  separator: fieldText,
  addressee: v.optional(fieldText, ""),
  scan: fieldText,
});

/** The result: the scan by the settings of the dialog, and what a flow would get, or its error. */
interface ScanTry {
  readonly scan: Scan;
  readonly control?: string;
  readonly reference?: string;
  readonly error?: EditorSentence;
}

/** The route of the dialog's “Try it”: it reads one scan as the node would, and sends no message. */
export function serveTryScan(RED: NodeAPI): void {
  // A regular expression is run, and may take a second: nothing for who may only read.
  const allowed = RED.auth.needsPermission("dimensioner-scan.write");
  const route = answerWith(async (request): Promise<ScanTry> => {
    const { scan: given, separator, addressee, ...settings } = readBody(requestSchema, request);
    const rules = readCodeRules(settings, new SettingsReader("node"));
    const [frame] = allFrames(given);
    if (frame === undefined) {
      throw scanError("scanEmpty");
    }
    const reading = readFrame(frame, { separator, addressee: readFlag(addressee) === true });
    const { scan } = reading;
    const control = rules.controlOf(reading);
    if (control !== undefined) {
      return { scan, control };
    }
    const references = await rules.references();
    try {
      return { scan, reference: chooseReference(reading, references) };
    } catch (error) {
      if (error instanceof DimensionerError) {
        return { scan, error: sayError(error) };
      }
      throw error;
    }
  });
  RED.httpAdmin.post("/dimensioner-scan/try", allowed, route);
}
