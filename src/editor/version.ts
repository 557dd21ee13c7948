import { isKnown, migrate, type Steps } from "../saved/migrations.ts";
import { textsOf } from "./texts.ts";

/** The catalog with the sentences of errors. */
const sentences = textsOf("dimensioner-device");

interface VersionField {
  value: number;
  // Two declared arguments tell the editor that a string is the reason why the value is wrong.
  validate(value: unknown, options?: object): true | string;
}

/** The version that a type is saved with. It stands in no form. */
export function savedVersion(type: string, { version }: { version: number }): VersionField {
  return {
    value: version,
    validate: (value, _options) => isKnown(type, { version: value }) || sentences("errors.configNewer"),
  };
}

/** Brings nodes up to date as the editor loads or imports them, before their dialogs are opened. */
export function migrateOnArrival(steps?: Steps): void {
  RED.events.on("nodes:add", (node: { type: string }) => {
    if (node.type.startsWith("dimensioner-")) {
      const saved = { ...node };
      const migrated = migrate(node.type, saved, steps);
      if (migrated !== saved) {
        Object.assign(node, migrated);
      }
    }
  });
}
