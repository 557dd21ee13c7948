import type { CommandOptions } from "../../http/transport.ts";
import type { Job } from "./serve.ts";

/** The options of a command of this message: how it is aborted, and how it shows that it waits. */
export function commandOptions(
  { signal, waitSignal, status }: Job,
  working: "measuring" | "sending",
  onTurn?: () => void,
): CommandOptions {
  return {
    signal,
    waitSignal,
    onWaiting: (count) => status.say("waiting", "waitingInQueue", { count }),
    onTurn: () => {
      onTurn?.();
      status.say("working", working);
    },
  };
}
