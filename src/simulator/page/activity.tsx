import type { VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";

import type { Generation, State } from "./shapes.ts";
import { duration } from "./words.ts";

const tickMs = 200;

/** The time of the simulator, whose clock may differ from the browser's; renews itself while it is needed. */
function useServerTime(state: State, isNeeded: boolean): number {
  const serverAhead = useMemo(() => Date.parse(state.now) - Date.now(), [state]);
  const [, setTicks] = useState(0);
  useEffect(() => {
    if (!isNeeded) {
      return undefined;
    }
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), tickMs);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return Date.now() + serverAhead;
}

interface ActivityProps {
  readonly state: State;
  readonly generation: Generation;
}

/** What is going on at the device, above its screen. */
export function Activity({ state, generation }: ActivityProps): VNode {
  const { newer, earlier } = state;
  const isNewer = generation === "newer";
  const isOn = !isNewer || newer.powered;
  const recording = isNewer && isOn ? newer.recording : null;
  const encodingEndsAt = isNewer && isOn ? newer.encodingEndsAt : null;
  const isMeasuring = isOn && (isNewer ? newer.measuring : earlier.measuring);
  const now = useServerTime(state, recording !== null || encodingEndsAt !== null);

  function words(): string {
    if (recording !== null) {
      return `REC ${duration(now - Date.parse(recording.startedAt))}`;
    }
    if (encodingEndsAt !== null) {
      return `Encoding, ${Math.max(0, Math.ceil((Date.parse(encodingEndsAt) - now) / 1000))} s`;
    }
    return isMeasuring ? "Measuring" : "";
  }
  const text = words();
  return (
    <>
      {text !== "" && (
        <p class="badge" id="badge" data-kind={recording === null ? "busy" : "recording"}>
          {text}
        </p>
      )}
      {!isOn && (
        <p class="switched-off" id="switched-off">
          Switched off
        </p>
      )}
    </>
  );
}
