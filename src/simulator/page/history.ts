import type { MediaItem, Post, Recent, Request, Transaction } from "./shapes.ts";

/** More requests than these are not shown: nobody reads them, and a page that is open for hours must not grow. */
export const mostRequests = 200;
const mostTransactions = 50;

/** A transaction and the posts of its record. */
export interface Entry {
  readonly transaction: Transaction;
  readonly posts: readonly Post[];
}

/** Requests and transactions that the page shows, the latest last. A request that has arrived is replaced when it ends. */
export interface History {
  readonly requests: readonly Request[];
  readonly entries: readonly Entry[];
}

export const noHistory: History = { requests: [], entries: [] };

export function historyOf({ requests, transactions, webhooks }: Recent): History {
  const began = requests.reduce(addRequest, noHistory);
  return webhooks.reduce(addPost, transactions.reduce(addTransaction, began));
}

export function addRequest(history: History, request: Request): History {
  const { requests } = history;
  const at = requests.findLastIndex(({ id }) => id === request.id);
  if (at < 0) {
    return { ...history, requests: [...requests, request].slice(-mostRequests) };
  }
  const hasEnded = requests[at]?.tookMs !== undefined;
  return hasEnded ? history : { ...history, requests: requests.with(at, request) };
}

export function addTransaction(history: History, transaction: Transaction): History {
  const others = history.entries.filter((entry) => entry.transaction.id !== transaction.id);
  return { ...history, entries: [...others, { transaction, posts: [] }].slice(-mostTransactions) };
}

export function addMedia(history: History, transactionId: string, item: MediaItem): History {
  return changeEntry(history, transactionId, ({ transaction, posts }) => ({
    transaction: { ...transaction, media: [...transaction.media, item] },
    posts,
  }));
}

export function addPost(history: History, post: Post): History {
  return changeEntry(history, post.transactionId, (entry) => ({ ...entry, posts: [...entry.posts, post] }));
}

function changeEntry(history: History, id: string, how: (entry: Entry) => Entry): History {
  const entries = history.entries.map((entry) => (entry.transaction.id === id ? how(entry) : entry));
  return { ...history, entries };
}
