import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { RequestError } from "./api.ts";
import type { Words } from "./words.ts";
import type { Evidence } from "./shapes.ts";
import type { Shared } from "./shared.ts";

interface WaitProps {
  readonly words: Words;
  /** What is shown until it has taken longer than a moment. */
  readonly children?: ComponentChildren;
}

/** Says that an answer is awaited. */
export function Wait({ words, children }: WaitProps): VNode {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 400);
    return () => clearTimeout(timer);
  }, []);
  return <>{isLong ? words.say("wait") : children}</>;
}

/** A number that changes some seconds after a failure that may pass by itself: no network, or a deploy of Node-RED. */
export function useTries(): readonly [tries: number, failed: (error: unknown) => void] {
  const [tries, setTries] = useState(0);
  const [isDue, setDue] = useState(false);
  useEffect(() => {
    if (!isDue) {
      return undefined;
    }
    const timer = setTimeout(() => {
      setDue(false);
      setTries(tries + 1);
    }, 3_000);
    return () => clearTimeout(timer);
  }, [isDue]);
  return [tries, (error) => setDue(error instanceof RequestError && [0, 503].includes(error.status))];
}

/** The states of a package that people must not overlook. */
export function Marks({
  one,
  shared: { words },
}: {
  readonly one: Evidence;
  readonly shared: Shared;
}): VNode {
  return (
    <>
      {one.problem !== null && <span class="mark broken">{words.say(one.changed ? "changed" : "gone")}</span>}
      {one.problem === null && one.damage !== null && <span class="mark broken">{words.say("damaged")}</span>}
      {one.problem === null && !one.complete && <span class="mark refused">{words.say("incomplete")}</span>}
      {one.files.some(({ contentType }) => contentType?.startsWith("video/") === true) && (
        <span class="mark">{words.say("video")}</span>
      )}
      {one.hold !== null && <span class="mark held">{words.say("onHold")}</span>}
    </>
  );
}
