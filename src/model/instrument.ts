/**
 * The identity of a device as a measuring instrument. No API reports it, so its owner types it in. Null if it is not
 * given.
 */
export interface Instrument {
  readonly serialNumber: string | null;
  readonly certificate: string | null;
}

export const unknownInstrument: Instrument = { serialNumber: null, certificate: null };

/** What is known of a device behind the cloud: the name of its config node, and the device as an instrument. */
export interface KnownDevice {
  readonly name: string | null;
  readonly instrument: Instrument;
}

export const unknownDevice: KnownDevice = { name: null, instrument: unknownInstrument };
