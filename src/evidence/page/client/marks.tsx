import type { VNode } from "preact";

import type { Evidence } from "./shapes.ts";
import type { Shared } from "./shared.ts";

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
      {one.hold !== null && <span class="mark held">{words.say("onHold")}</span>}
    </>
  );
}
