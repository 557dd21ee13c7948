import type { VNode } from "preact";
import { useRef, useState, useLayoutEffect } from "preact/hooks";
import { changeHold, readPackage, RequestError, addNumber, logIn } from "./api.ts";
import type { Evidence } from "./shapes.ts";
import type { Shared } from "./shared.ts";
import { useSending } from "./use-sending.ts";
import { visibleText } from "../../../rules/visible-text.ts";
import type { Words } from "./words.ts";

interface HoldProps {
  readonly one: Evidence;
  readonly onChange: (one: Evidence) => void;
  readonly shared: Shared;
}

/** Says who keeps the package from being deleted, and lets managers change that. */
export function Hold({ one, onChange, shared: { words, me, fail } }: HoldProps): VNode {
  const [problem, setProblem] = useState("");
  const reason = useRef<HTMLInputElement>(null);
  const { packageId, hold } = one;

  async function change(): Promise<void> {
    setProblem("");
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
  const { isSending, submit } = useSending(change, fail);
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

interface NumbersProps {
  readonly one: Evidence;
  readonly onChange: (one: Evidence) => void;
  readonly shared: Shared;
}

/** Says which numbers were added to the package, and lets managers add one. */
export function Numbers({ one, onChange, shared: { words, me, fail } }: NumbersProps): VNode | null {
  const input = useRef<HTMLInputElement>(null);
  const { isSending, submit } = useSending(async () => {
    onChange(await addNumber(one.packageId, input.current?.value ?? ""));
    if (input.current !== null) {
      input.current.value = "";
    }
  }, fail);
  const mayAdd = me.right === "manage" && (one.problem === null || one.changed);
  return one.numbers.length === 0 && !mayAdd ? null : (
    <section aria-labelledby="numbers-title">
      <h3 id="numbers-title">{words.say("addedNumbers")}</h3>
      {one.numbers.length === 0 ? (
        <p>{words.say("noNumbers")}</p>
      ) : (
        <ul id="numbers">
          {one.numbers.map(({ number, addedAtUtc, person }) => (
            <li key={number}>
              {words.say("numberAdded", {
                number: visibleText(number),
                at: words.time(addedAtUtc),
                person: visibleText(person ?? words.say("unknown")),
              })}
            </li>
          ))}
        </ul>
      )}
      {mayAdd && (
        <form class="row" id="numbers-form" onSubmit={submit}>
          <label for="number">{words.say("number")}</label>
          <input ref={input} id="number" maxLength={200} required />
          <button type="submit" disabled={isSending}>
            {words.say("addNumber")}
          </button>
        </form>
      )}
    </section>
  );
}

interface LoginProps {
  readonly words: Words;
  /** Whether somebody was logged in until just now. */
  readonly hasEnded: boolean;
  readonly onDone: () => Promise<void>;
}

export function Login({ words, hasEnded, onDone }: LoginProps): VNode {
  const [problem, setProblem] = useState(hasEnded ? words.say("loginEnded") : "");
  const name = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => name.current?.focus(), []);

  async function send(): Promise<void> {
    setProblem("");
    await logIn(name.current?.value ?? "", password.current?.value ?? "");
    await onDone();
  }
  const { isSending, submit } = useSending(send, (error) => {
    setProblem(words.sayReason(error instanceof RequestError ? error.reason : "noAnswer"));
    password.current?.select();
  });
  return (
    <form class="card login" onSubmit={submit} aria-labelledby="login-title">
      <h2 id="login-title">{words.say("logIn")}</h2>
      <label>
        {words.say("name")}
        <input ref={name} id="name" autocomplete="username" spellcheck={false} required />
      </label>
      <label>
        {words.say("password")}
        <input ref={password} id="password" type="password" autocomplete="current-password" required />
      </label>
      <p class="problem" id="login-problem" role="alert">
        {problem}
      </p>
      <button type="submit" class="main" disabled={isSending}>
        {words.say("logIn")}
      </button>
    </form>
  );
}
