import { createEarlierDevice, type EarlierDevice } from "./earlier-device.ts";
import { createFeed, type Feed } from "./feed.ts";
import { createFleet, type Fleet } from "./fleet.ts";
import type { SimulatorOptions } from "./options.ts";
import { createRandom, type Random } from "./random.ts";
import { createRegistry, type Registry } from "./registry.ts";
import type { SimulatorEvent } from "./simulator.ts";
import { openDepot, type Depot } from "./table.ts";
import { createTimers, type Timers } from "./timers.ts";
import { createTransactions, type Transactions } from "./transactions.ts";
import { createWebhooks, type WebhookPost } from "./webhooks.ts";

/** Everything that is simulated, before any of it can be reached over a network. */
export interface World {
  readonly options: SimulatorOptions;
  readonly random: Random;
  readonly timers: Timers;
  readonly depot: Depot;
  readonly registry: Registry;
  readonly transactions: Transactions;
  readonly fleet: Fleet;
  readonly earlier: EarlierDevice;
  readonly webhookPosts: readonly WebhookPost[];
  readonly events: Feed<SimulatorEvent>;
  readonly localApi: boolean;
  readonly simulationMode: boolean;
  setLocalApi(on: boolean): void;
  setSimulationMode(on: boolean): void;
  reset(): void;
  close(): void;
}

export function createWorld(options: SimulatorOptions): World {
  const random = createRandom(options.seed);
  const timers = createTimers();
  const depot = openDepot(options.videoBytes);
  const registry = createRegistry(options, random);
  const transactions = createTransactions(options.transactionIds, random);
  const events = createFeed<SimulatorEvent>();
  const changed = (): void => events.emit({ type: "state" });
  const fleet = createFleet({ options, random, timers, depot, transactions, changed }, registry);
  const earlier = createEarlierDevice(options, random, timers, depot.find(options.parcel), changed);
  const webhookPosts: WebhookPost[] = [];
  const webhooks = createWebhooks(options.webhooks, timers, (post) => {
    webhookPosts.push(post);
    events.emit({ type: "webhook", post });
  });
  let { localApi, simulationMode } = options;

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
    depot,
    registry,
    transactions,
    fleet,
    earlier,
    webhookPosts,
    events,
    get localApi() {
      return localApi;
    },
    get simulationMode() {
      return simulationMode;
    },
    setLocalApi(on) {
      localApi = on;
      changed();
    },
    setSimulationMode(on) {
      simulationMode = on;
      changed();
    },
    reset() {
      ({ localApi, simulationMode } = options);
      transactions.clear();
      webhookPosts.length = 0;
      earlier.reset();
      fleet.reset();
    },
    close() {
      webhooks.close();
      timers.close();
      transactions.close();
      events.close();
    },
  };
}
