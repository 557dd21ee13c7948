import { createDevices, createEarlierDevice, type Devices, type EarlierDevice } from "./devices.ts";
import { createEmitter, createHistory, type Emitter } from "./history.ts";
import type { RecordChanges, SimulatorOptions } from "./options.ts";
import { createRandom, type Random } from "./random.ts";
import { createRegisteredDevices, type RegisteredDevices } from "./registered-devices.ts";
import type { SimulatorEvent } from "./simulator.ts";
import { openParcels, type Parcels } from "./parcels.ts";
import { createTimers, type Timers } from "./timers.ts";
import { createTransactions, type Transactions } from "./transactions.ts";
import { createWebhooks, type WebhookPost } from "./webhooks.ts";

/** Everything that is simulated, without the network. */
export interface SimulatorCore {
  readonly options: SimulatorOptions;
  readonly random: Random;
  readonly timers: Timers;
  readonly parcels: Parcels;
  readonly registeredDevices: RegisteredDevices;
  readonly transactions: Transactions;
  readonly devices: Devices;
  readonly earlier: EarlierDevice;
  readonly webhookPosts: readonly WebhookPost[];
  readonly events: Emitter<SimulatorEvent>;
  readonly localApi: boolean;
  readonly simulationMode: boolean;
  readonly records: RecordChanges;
  setLocalApi(on: boolean): void;
  setSimulationMode(on: boolean): void;
  setRecords(changes: Partial<RecordChanges>): void;
  reset(): void;
  close(): void;
}

// The same devices are registered at every start, because flows and webhook filters name them.
const registrySeed = 1;
const postBytes = 600;

export function createCore(options: SimulatorOptions): SimulatorCore {
  const random = createRandom(options.seed);
  const timers = createTimers();
  const parcels = openParcels(options.videoBytes);
  const registeredDevices = createRegisteredDevices(options, createRandom(registrySeed));
  const limits = { entries: options.keepTransactions, bytes: options.keepBytes };
  const transactions = createTransactions(options.transactionIds, random, timers, limits);
  const events = createEmitter<SimulatorEvent>();
  const changed = (): void => events.emit({ type: "state" });
  const devices = createDevices(
    { options, random, timers, parcels, transactions, changed },
    registeredDevices,
  );
  const earlier = createEarlierDevice(options, random, timers, parcels.find(options.parcel), changed);
  const posts = createHistory<WebhookPost>({ entries: options.keepRequests, bytes: options.keepBytes });
  let { localApi, simulationMode, records } = options;
  const posted = (post: WebhookPost): void => {
    posts.add(post, postBytes);
    events.emit({ type: "webhook", post });
  };
  const webhooks = createWebhooks(options, timers, { posted, records: () => records });

  transactions.onAdded((transaction) => {
    events.emit({ type: "transaction", transaction });
    webhooks.fire(transaction);
  });
  transactions.onMedia(({ transaction, item }) =>
    events.emit({ type: "media", transactionId: transaction.id, item }),
  );

  return {
    options,
    random,
    timers,
    parcels,
    registeredDevices,
    transactions,
    devices,
    earlier,
    webhookPosts: posts.all,
    events,
    get localApi() {
      return localApi;
    },
    get simulationMode() {
      return simulationMode;
    },
    get records() {
      return records;
    },
    setLocalApi(on) {
      localApi = on;
      changed();
    },
    setSimulationMode(on) {
      simulationMode = on;
      changed();
    },
    setRecords(changes) {
      records = { ...records, ...changes };
      changed();
    },
    reset() {
      ({ localApi, simulationMode, records } = options);
      transactions.clear();
      webhooks.clear();
      posts.clear();
      earlier.reset();
      devices.reset();
    },
    close() {
      webhooks.close();
      timers.close();
      transactions.close();
      events.close();
    },
  };
}
