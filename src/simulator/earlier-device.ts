import {
  emptyResponse,
  jsonResponse,
  jsonTextResponse,
  type SimResponse,
  type SimRequest,
} from "./responses.ts";
import { earlierResult, measureParcel, noReferences, type Measurement } from "./measurement.ts";
import type { SimulatorOptions } from "./options.ts";
import type { Random } from "./random.ts";
import type { TableParcel } from "./parcels.ts";
import type { Timers } from "./timers.ts";

export interface EarlierState {
  readonly measuring: boolean;
  /** The latest measurement; null after the start. */
  readonly last: Measurement | null;
  readonly legalForTrade: boolean;
  readonly parcel: TableParcel | null;
}

export interface EarlierDevice {
  readonly state: EarlierState;
  readonly actions: { readonly measures: number };
  setParcel(parcel: TableParcel | null): void;
  setLegalForTrade(on: boolean): void;
  measure(): Promise<Measurement>;
  handle(request: SimRequest): Promise<SimResponse>;
  reset(): void;
}

/** The earlier device. It measures and answers pings; no way to its images is documented. */
export function createEarlierDevice(
  options: SimulatorOptions,
  random: Random,
  timers: Timers,
  firstParcel: TableParcel | null,
  changed: () => void,
): EarlierDevice {
  const versions: Record<string, string> = options.versionHeader ? { "api-supported-versions": "1.0" } : {};
  let table = firstParcel;
  let legalForTrade = options.mode === "legal-for-trade";
  let measures = 0;
  let measuring = false;
  let last: Measurement | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  function measure(): Promise<Measurement> {
    const mine = turn.then(async () => {
      measures += 1;
      measuring = true;
      changed();
      await timers.sleep(options.measureMs).finally(() => {
        measuring = false;
      });
      const facts = { ...noReferences, trackId: measures, legalForTrade };
      last = measureParcel(table, options, random, facts);
      changed();
      return last;
    });
    turn = mine.catch(() => undefined);
    return mine;
  }

  async function respondToMeasure(): Promise<SimResponse> {
    const result = await measure();
    return jsonTextResponse(earlierResult(result, random.guid(), options.earlierImageFields), versions);
  }

  return {
    get state() {
      return { measuring, last, legalForTrade, parcel: table };
    },
    get actions() {
      return { measures };
    },
    setParcel(parcel) {
      table = parcel;
      changed();
    },
    setLegalForTrade(on) {
      legalForTrade = on;
      changed();
    },
    measure,
    async handle({ segments, method }) {
      const [api = "", resource = "", message, ...rest] = segments;
      const path = [api, resource].join("/").toLowerCase();
      const measures = path === "api/measure" && message === undefined;
      const pings = path === "api/ping" && rest.length === 0;
      if (!measures && !pings) {
        return emptyResponse(404);
      }
      if (method !== "GET") {
        return emptyResponse(405);
      }
      return measures ? respondToMeasure() : jsonResponse({ msg: message ?? "" });
    },
    reset() {
      table = firstParcel;
      legalForTrade = options.mode === "legal-for-trade";
      measures = 0;
      last = null;
      changed();
    },
  };
}
