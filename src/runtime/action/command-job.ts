import { machineOf, type Peer } from "../../http/call.ts";
import type { CommandOptions } from "../../http/transport.ts";
import type { Chosen } from "../config/config-node.ts";
import type { Job } from "./serve.ts";

/** How a command of this job waits, ends and shows that it does. */
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

/** The machine that a command is for. */
export interface Target {
  readonly chosen: Omit<Chosen<unknown>, "client">;
  /** As the command queues and the recordings know it. */
  readonly machine: string;
  /** Undefined for a device on the local network. */
  readonly deviceReference?: string;
}

export function targetOf(chosen: Target["chosen"], peer: Peer, deviceReference?: string): Target {
  const machine = machineOf(peer, deviceReference);
  return { chosen, machine, ...(deviceReference === undefined ? {} : { deviceReference }) };
}
