import * as v from "valibot";

import { byId } from "./dom.ts";

const shownMs = 6000;

/** The page's access to the control port. Errors are shown at the bottom of the page. */
export interface Control {
  /** The JSON of the response; undefined if there is none or the request failed. */
  post(path: string, body: unknown): Promise<unknown>;
  remove(path: string): Promise<void>;
  say(text: string): void;
}

const refusal = v.object({ error: v.string() });

export function createControl(): Control {
  const notice = byId("notice", HTMLElement);
  let timer = 0;

  function say(text: string): void {
    clearTimeout(timer);
    notice.textContent = text;
    notice.classList.add("shown");
    timer = setTimeout(() => notice.classList.remove("shown"), shownMs);
  }

  async function call(path: string, init: RequestInit): Promise<unknown> {
    try {
      const response = await fetch(path, init);
      const text = await response.text();
      const answer: unknown = text === "" ? undefined : JSON.parse(text);
      if (response.ok) {
        return answer;
      }
      const words = v.safeParse(refusal, answer);
      say(words.success ? words.output.error : `The simulator answered ${response.status}.`);
    } catch {
      say("The simulator does not answer. Is it still running?");
    }
    return undefined;
  }

  return {
    post: (path, body) =>
      call(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    async remove(path) {
      await call(path, { method: "DELETE" });
    },
    say,
  };
}

/** Makes a button copy a text. */
export function copyButton(id: string, control: Control): (text: string) => void {
  const button = byId(id, HTMLButtonElement);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(button.textContent ?? "");
      control.say("Copied.");
    } catch {
      // A page may not be allowed to copy; then the text is selected for the user.
      getSelection()?.selectAllChildren(button);
      control.say("Press Ctrl+C to copy.");
    }
  }
  button.addEventListener("click", () => void copy());
  return (text) => {
    if (button.textContent !== text) {
      button.textContent = text;
    }
  };
}
