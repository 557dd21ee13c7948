import { byId, fromTemplate, keyedList, oncePerFrame, setText, setTextOrHide, within } from "./dom.ts";
import type { Request } from "./shapes.ts";
import { clock, surface } from "./words.ts";

/** More requests than these are not shown: nobody reads them, and a page that is open for hours must not grow. */
const mostShown = 200;

interface Outcome {
  readonly words: string;
  readonly kind: "waiting" | "good" | "refused" | "broken" | "fault" | "gone";
}

function outcomeOf({ outcome, statusCode }: Request): Outcome {
  const status = statusCode === undefined ? "" : String(statusCode);
  if (outcome === "pending") {
    return { words: "waits", kind: "waiting" };
  }
  if (outcome.startsWith("fault:")) {
    return { words: `${status} ${outcome.slice("fault:".length)}`.trim(), kind: "fault" };
  }
  if (outcome === "aborted-by-client") {
    return { words: "client gave up", kind: "gone" };
  }
  if (outcome !== "answered") {
    return { words: outcome, kind: "broken" };
  }
  const kind = Number(status) < 400 ? "good" : Number(status) < 500 ? "refused" : "broken";
  return { words: status, kind };
}

function row(): { element: HTMLElement; show(request: Request): void } {
  const element = fromTemplate("request-row");
  const part = (selector: string): HTMLElement => within(element, selector, HTMLElement);
  const [time, to, method, path] = [part("time"), part(".surface"), part(".what b"), part(".path")];
  const [query, answer, took] = [part(".query"), part(".outcome"), part(".took")];
  return {
    element,
    show(request) {
      const { words, kind } = outcomeOf(request);
      setText(time, clock(request.at));
      setText(to, request.surface);
      to.title = surface(request.surface);
      to.dataset["surface"] = request.surface;
      setText(method, request.method);
      setText(path, request.path);
      setTextOrHide(query, request.query === "" ? "" : `?${request.query}`);
      setText(answer, words);
      answer.dataset["kind"] = kind;
      setText(took, request.tookMs === undefined ? "" : `${request.tookMs} ms`);
    },
  };
}

export interface Requests {
  begin(requests: readonly Request[]): void;
  add(request: Request): void;
}

/** Creates the list of requests, the latest first. */
export function createRequests(): Requests {
  const filter = byId("request-filter", HTMLSelectElement);
  const count = byId("request-count", HTMLElement);
  const nothing = byId("no-requests", HTMLElement);
  const show = keyedList(byId("requests", HTMLElement), (one: Request) => String(one.id), row);
  const known = new Map<number, Request>();

  const render = oncePerFrame(() => {
    const all = [...known.values()].toReversed();
    const shown = filter.value === "" ? all : all.filter((one) => one.surface === filter.value);
    show(shown);
    nothing.hidden = shown.length > 0;
    const howMany = shown.length === mostShown ? `the latest ${mostShown}` : String(shown.length);
    setText(count, known.size === 0 ? "" : howMany);
  });
  function add(request: Request): void {
    const before = known.get(request.id);
    if (before?.tookMs !== undefined) {
      return;
    }
    known.set(request.id, request);
    const [oldest] = known.keys();
    if (known.size > mostShown && oldest !== undefined) {
      known.delete(oldest);
    }
    render();
  }

  filter.addEventListener("change", render);
  return {
    begin(requests) {
      known.clear();
      requests.forEach(add);
      render();
    },
    add,
  };
}
