import { migrate, type Steps } from "../properties/migrations.ts";

/** Migrates older nodes when the editor loads or imports them, before their dialogs are opened. */
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
