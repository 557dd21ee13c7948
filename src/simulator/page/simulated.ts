import { useEffect, useState } from "preact/hooks";
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

/** More requests than these are not shown: nobody reads them, and a page that is open for hours must not grow. */
export const mostRequests = 200;
const mostTransactions = 50;

/** A transaction and the posts of its record. */
export interface Entry {
  readonly transaction: Transaction;
  readonly posts: readonly Post[];
}

/** Requests and transactions that the page shows, the latest last. A request that has arrived is replaced when it ends. */
interface History {
  readonly requests: readonly Request[];
  readonly entries: readonly Entry[];
}

const noHistory: History = { requests: [], entries: [] };

function historyOf({ requests, transactions, webhooks }: Recent): History {
  const began = requests.reduce(addRequest, noHistory);
  return webhooks.reduce(addPost, transactions.reduce(addTransaction, began));
}

function addRequest(history: History, request: Request): History {
  const { requests } = history;
  const at = requests.findLastIndex(({ id }) => id === request.id);
  if (at < 0) {
    return { ...history, requests: [...requests, request].slice(-mostRequests) };
  }
  const hasEnded = requests[at]?.tookMs !== undefined;
  return hasEnded ? history : { ...history, requests: requests.with(at, request) };
}

function addTransaction(history: History, transaction: Transaction): History {
  const others = history.entries.filter((entry) => entry.transaction.id !== transaction.id);
  return { ...history, entries: [...others, { transaction, posts: [] }].slice(-mostTransactions) };
}

function addMedia(history: History, transactionId: string, item: MediaItem): History {
  return changeEntry(history, transactionId, ({ transaction, posts }) => ({
    transaction: { ...transaction, media: [...transaction.media, item] },
    posts,
  }));
}

function addPost(history: History, post: Post): History {
  return changeEntry(history, post.transactionId, (entry) => ({ ...entry, posts: [...entry.posts, post] }));
}

function changeEntry(history: History, id: string, how: (entry: Entry) => Entry): History {
  const entries = history.entries.map((entry) => (entry.transaction.id === id ? how(entry) : entry));
  return { ...history, entries };
}

const latestCount = 200;

interface Watcher {
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
function watch(watcher: Watcher): void {
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

/** What the page knows of the simulator. */
interface Simulated extends History {
  /** Undefined until the first connection succeeds or fails. */
  readonly isConnected: boolean | undefined;
  /** Undefined until the simulator has sent it. */
  readonly state: State | undefined;
}

/** Follows the simulator's events as long as the page is open. */
export function useSimulator(): Simulated {
  const [isConnected, setConnected] = useState<boolean>();
  const [state, setState] = useState<State>();
  const [history, change] = useState<History>(noHistory);
  useEffect(() => {
    watch({
      connected: setConnected,
      begin: (recent) => change(historyOf(recent)),
      state: setState,
      request: (request) => change((before) => addRequest(before, request)),
      transaction: (transaction) => change((before) => addTransaction(before, transaction)),
      media: (transactionId, item) => change((before) => addMedia(before, transactionId, item)),
      post: (post) => change((before) => addPost(before, post)),
    });
  }, []);
  return { isConnected, state, ...history };
}
