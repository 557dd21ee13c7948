import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";

interface Sending {
  readonly isSending: boolean;
  readonly submit: (event: TargetedSubmitEvent<HTMLFormElement>) => void;
}

/** A form that sends itself with a request, not by leaving the page. `isSending` keeps it from being sent twice. */
export function useSending(send: () => Promise<void>, fail: (error: unknown) => void): Sending {
  const [isSending, setSending] = useState(false);
  return {
    isSending,
    submit: (event) => {
      event.preventDefault();
      // The browser takes a blank for an entry. What is missing, it says itself, in its reader's language.
      const form = event.currentTarget;
      for (const input of form.querySelectorAll<HTMLInputElement>("input:not([type=password])")) {
        input.value = input.value.trim();
      }
      if (!form.reportValidity()) {
        return;
      }
      setSending(true);
      void send()
        .catch(fail)
        .finally(() => setSending(false));
    },
  };
}
