import type { NodeDef } from "node-red";
import { isKnown, migrate } from "../../properties/migrations.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";

/** Properties with the version with which they were saved. */
export interface Versioned {
  readonly version: number;
}

/** A node's properties, migrated to the present version and with defaults for those that were not saved. */
export function readSaved<P extends Versioned>(defaults: P, config: NodeDef & Partial<P>): P {
  return Object.assign({ ...defaults }, migrate(config.type, { ...config }));
}

/** The same for nodes without a status of their own: throws ERR_CONFIG if a newer version has saved them. */
export function readCurrent<P extends Versioned>(defaults: P, config: NodeDef & Partial<P>): P {
  const properties = readSaved(defaults, config);
  refuseNewer(config.type, properties, { operation: "settings", surface: "config", acts: false });
  return properties;
}

/**
 * Throws ERR_CONFIG if a newer version of the package has saved the node: its properties may mean something else there,
 * and a guess could act on the wrong device or save to the wrong folder.
 */
export function refuseNewer(type: string, { version }: Versioned, operation: Operation): void {
  if (!isKnown(type, { version })) {
    throw errorBeforeSending(operation, "configNewer");
  }
}
