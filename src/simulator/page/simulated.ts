import { useEffect, useState } from "preact/hooks";

import {
  addMedia,
  addPost,
  addRequest,
  addTransaction,
  historyOf,
  noHistory,
  type History,
} from "./history.ts";
import type { State } from "./shapes.ts";
import { watch } from "./stream.ts";

/** What the page knows of the simulator. */
export interface Simulated extends History {
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
