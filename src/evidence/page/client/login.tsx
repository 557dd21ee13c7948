import type { VNode } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

import { logIn, RequestError } from "./api.ts";
import type { Words } from "./words.ts";

interface LoginProps {
  readonly words: Words;
  readonly onDone: () => Promise<void>;
}

export function Login({ words, onDone }: LoginProps): VNode {
  const [problem, setProblem] = useState("");
  const [isSending, setSending] = useState(false);
  const name = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => name.current?.focus(), []);

  async function send(): Promise<void> {
    setSending(true);
    setProblem("");
    try {
      await logIn(name.current?.value ?? "", password.current?.value ?? "");
      await onDone();
    } catch (error) {
      setProblem(words.sayReason(error instanceof RequestError ? error.reason : "noAnswer"));
      password.current?.select();
    } finally {
      setSending(false);
    }
  }
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    void send();
  }
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
