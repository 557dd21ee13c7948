import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";

/** The last state that the server has sent; each one is another object. */
export const ServerState = createContext<unknown>(undefined);

interface Sent<T> {
  readonly value: T;
  readonly isAccepted: boolean;
}

/**
 * A value of the server's state that the user changes. What the user has chosen is shown until the server has refused it, or
 * has accepted it and sends its next state: an older state would undo the choice for a moment.
 *
 * @param send resolves with whether the server has accepted the value
 */
export function useChosen<T>(value: T, send: (next: T) => Promise<boolean>): [T, (next: T) => void] {
  const state = useContext(ServerState);
  const [sent, setSent] = useState<Sent<T>>();
  useEffect(() => setSent((last) => (last?.isAccepted === true ? undefined : last)), [state]);

  async function choose(next: T): Promise<void> {
    const mine = { value: next, isAccepted: false };
    setSent(mine);
    const ended = (await send(next)) ? { value: next, isAccepted: true } : undefined;
    setSent((last) => (last === mine ? ended : last));
  }
  return [sent === undefined ? value : sent.value, (next) => void choose(next)];
}
