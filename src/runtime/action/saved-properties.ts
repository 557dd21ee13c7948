import type { NodeDef } from "node-red";
import { isKnown, migrate } from "../../saved/migrations.ts";
import { errorBeforeSending, type Operation } from "../failure.ts";

/** Properties that carry the version they were saved with. */
export interface Versioned {
  readonly version: number;
}

/** A node's properties in the present version; what was not saved is as its default. */
export function readSaved<P extends Versioned>(defaults: P, config: NodeDef & Partial<P>): P {
  return Object.assign({ ...defaults }, migrate(config.type, { ...config }));
}

/** The same for nodes that can do without an own status: throws ERR_CONFIG where a newer version saved them. */
export function readCurrent<P extends Versioned>(defaults: P, config: NodeDef & Partial<P>): P {
  const properties = readSaved(defaults, config);
  refuseNewer(config.type, properties, { operation: "settings", surface: "config", acts: false });
  return properties;
}

/**
 * Throws ERR_CONFIG where a newer version of the package has saved the node: what it means by its properties is not
 * known here, and a guess could act on the wrong machine or save to the wrong place.
 */
export function refuseNewer(type: string, { version }: Versioned, operation: Operation): void {
  if (!isKnown(type, { version })) {
    throw errorBeforeSending(operation, "configNewer");
  }
}
