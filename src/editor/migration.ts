import { migrate, type Steps } from "../saved/migrations.ts";

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
