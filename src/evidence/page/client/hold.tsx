import type { VNode } from "preact";
import { useRef, useState } from "preact/hooks";

import { changeHold, readPackage, RequestError } from "./api.ts";
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
  const [problem, setProblem] = useState("");
  const reason = useRef<HTMLInputElement>(null);
  const { packageId, hold } = one;

  async function change(): Promise<void> {
    try {
      onChange(await changeHold(one, reason.current?.value ?? ""));
    } catch (error) {
      if (!(error instanceof RequestError && error.status === 409)) {
        throw error;
      }
      onChange(await readPackage(packageId));
      setProblem(words.sayReason(error.reason));
    }
    // Also after a refusal: the reason was not meant for the hold that is shown now.
    if (reason.current !== null) {
      reason.current.value = "";
    }
  }
  async function send(): Promise<void> {
    setSending(true);
    setProblem("");
    try {
      await change();
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
      <p class="problem" id="hold-problem" role="alert">
        {problem}
      </p>
      {me.right === "manage" && (one.problem === null || one.changed) && (
        <form class="row" id="hold-form" onSubmit={submit}>
          <label for="reason">{words.say("reason")}</label>
          <input ref={reason} id="reason" maxLength={1000} required />
          <button type="submit" disabled={isSending}>
            {words.say(hold === null ? "hold" : "release")}
          </button>
        </form>
      )}
    </section>
  );
}
