import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";

import { changeHold } from "./api.ts";
import type { Evidence } from "./shapes.ts";
import type { Shared } from "./shared.ts";

interface HoldProps {
  readonly one: Evidence;
  readonly onChange: (one: Evidence) => void;
  readonly shared: Shared;
}

/** Says who keeps the package from being deleted, and lets managers change that. */
export function Hold({ one, onChange, shared: { words, me, fail } }: HoldProps): VNode {
  const [isSending, setSending] = useState(false);
  const reason = useRef<HTMLInputElement>(null);
  const { packageId, hold } = one;
  const what = hold === null ? "hold" : "release";

  async function send(): Promise<void> {
    setSending(true);
    try {
      onChange(await changeHold(packageId, what, reason.current?.value ?? ""));
      if (reason.current !== null) {
        reason.current.value = "";
      }
    } catch (error) {
      fail(error);
    } finally {
      setSending(false);
    }
  }
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    void send();
  }
  const values = {
    person: hold?.person ?? words.say("unknown"),
    at: hold?.heldAt === null || hold === null ? words.say("unknown") : words.time(hold.heldAt),
    reason: hold?.reason ?? words.say("unknown"),
  };
  return (
    <section aria-labelledby="hold-title">
      <h3 id="hold-title">{words.say("holdTitle")}</h3>
      <p id="hold-state">{words.say(hold === null ? "notHeld" : "held", values)}</p>
      {me.right === "manage" && (one.problem === null || one.changed) && (
        <form class="row" id="hold-form" onSubmit={submit}>
          <label for="reason">{words.say("reason")}</label>
          <input ref={reason} id="reason" maxLength={1000} required />
          <button type="submit" disabled={isSending}>
            {words.say(what)}
          </button>
        </form>
      )}
    </section>
  );
}
