import * as v from "valibot";

import {
  mediaEvent,
  recent,
  request,
  state,
  transactionEvent,
  webhookEvent,
  type MediaItem,
  type Post,
  type Recent,
  type Request,
  type State,
  type Transaction,
} from "./shapes.ts";

const latestCount = 200;

export interface Watcher {
  connected(is: boolean): void;
  /** Called with the latest events: everything that was shown before is to be removed. */
  begin(recent: Recent): void;
  state(state: State): void;
  /** Called when a request has arrived or ended. */
  request(request: Request): void;
  transaction(transaction: Transaction): void;
  media(transactionId: string, item: MediaItem): void;
  post(post: Post): void;
}

/** Listens to the simulator's events, and reconnects after it was restarted. */
export function watch(watcher: Watcher): void {
  const source = new EventSource(`events?recent=${latestCount}`);
  function on<const S extends v.GenericSchema>(
    event: string,
    schema: S,
    act: (data: v.InferOutput<S>) => void,
  ): void {
    source.addEventListener(event, ({ data }: MessageEvent<string>) =>
      act(v.parse(schema, JSON.parse(data))),
    );
  }
  source.addEventListener("open", () => watcher.connected(true));
  source.addEventListener("error", () => watcher.connected(false));
  on("recent", recent, (data) => watcher.begin(data));
  on("state", state, (data) => watcher.state(data));
  on("request", request, (data) => watcher.request(data));
  on("settled", request, (data) => watcher.request(data));
  on("transaction", transactionEvent, (data) => watcher.transaction(data.transaction));
  on("media", mediaEvent, (data) => watcher.media(data.transactionId, data.item));
  on("webhook", webhookEvent, (data) => watcher.post(data.post));
  on("reset", v.unknown(), () => watcher.begin({ requests: [], transactions: [], webhooks: [] }));
}
