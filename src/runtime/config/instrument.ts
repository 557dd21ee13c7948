/** What a device is as a measuring instrument. No API says it: its owner has typed it in. Null where it is not given. */
export interface Instrument {
  readonly serialNumber: string | null;
  readonly certificate: string | null;
}

export const unknownInstrument: Instrument = { serialNumber: null, certificate: null };

export function readInstrument(settings: {
  readonly serialNumber: string;
  readonly certificate: string;
}): Instrument {
  return {
    serialNumber: settings.serialNumber.trim() || null,
    certificate: settings.certificate.trim() || null,
  };
}
