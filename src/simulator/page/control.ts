import * as v from "valibot";
import type { Media } from "../../ui/viewer.tsx";

/** The page's access to the control port. Errors are shown at the bottom of the page. */
export interface Control {
  /** Resolves with whether the simulator has accepted it. */
  send(path: string, body: unknown): Promise<boolean>;
  /** The JSON of the response; undefined if there is none or the request failed. */
  ask(path: string, body: unknown): Promise<unknown>;
  remove(path: string): Promise<boolean>;
}

interface Answer {
  readonly isAccepted: boolean;
  readonly body?: unknown;
}

const refusal = v.object({ error: v.string() });

export function createControl(say: (text: string) => void): Control {
  async function call(path: string, init: RequestInit): Promise<Answer> {
    try {
      const response = await fetch(path, init);
      const text = await response.text();
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      if (response.ok) {
        return { isAccepted: true, body };
      }
      const words = v.safeParse(refusal, body);
      say(words.success ? words.output.error : `The simulator answered ${response.status}.`);
    } catch {
      say("The simulator does not answer. Is it still running?");
    }
    return { isAccepted: false };
  }
  const post = (path: string, body: unknown): Promise<Answer> =>
    call(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  return {
    send: async (path, body) => (await post(path, body)).isAccepted,
    ask: async (path, body) => (await post(path, body)).body,
    remove: async (path) => (await call(path, { method: "DELETE" })).isAccepted,
  };
}

/** What the panels of the page can do. */
export interface Actions {
  readonly control: Control;
  /** Shows a text at the bottom of the page. */
  readonly say: (text: string) => void;
  /** Shows a picture or a video in full size. */
  readonly view: (media: Media) => void;
}
