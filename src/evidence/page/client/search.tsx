import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { instantOf } from "../../../rules/instants.ts";
import { fileAddress, RequestError, searchPackages } from "./api.ts";
import { CaseBar, type Case } from "./case.tsx";
import { Marks } from "./marks.tsx";
import type { Evidence, Found } from "./shapes.ts";
import type { Shared } from "./shared.ts";
import { nameOf, sizeOf, type TextKey } from "./words.ts";

interface ResultProps {
  readonly one: Evidence;
  readonly chosen: Case;
  readonly shared: Shared;
}

function Result({ one, chosen, shared }: ResultProps): VNode {
  const { words } = shared;
  const hasPicture = one.files.some(({ contentType }) => contentType?.startsWith("image/") === true);
  const isInCase = chosen.ids.has(one.packageId);
  const { measuredAtUtc: measuredAt, archivedAtUtc: archivedAt } = one;
  const at = measuredAt ?? archivedAt;
  // A day finds what was archived on it.
  const isOfOtherDay = measuredAt !== null && archivedAt !== null && dayOf(measuredAt) !== dayOf(archivedAt);
  const facts = [
    one.device,
    at === null ? null : words.time(at),
    isOfOtherDay ? `${words.say("archivedAt")}: ${words.time(archivedAt)}` : null,
  ];
  return (
    <li class="row">
      <input
        type="checkbox"
        aria-label={words.say("addToCase", { name: nameOf(one) })}
        title={words.say("addToCase", { name: nameOf(one) })}
        checked={isInCase}
        disabled={chosen.isFull && !isInCase}
        onChange={({ currentTarget }) => chosen.change(one.packageId, currentTarget.checked)}
      />
      <a class="result" href={`#package=${encodeURIComponent(one.packageId)}`}>
        <span class="picture">
          {hasPicture && (
            <img src={fileAddress(one.packageId, "picture")} alt="" loading="lazy" width="112" height="84" />
          )}
        </span>
        <span class="about">
          <b>{nameOf(one)}</b>
          <span>{sizeOf(one, words)}</span>
          <span class="hint">{facts.filter((part) => part !== null).join(" · ")}</span>
          <span>
            <Marks one={one} shared={shared} />
          </span>
        </span>
      </a>
    </li>
  );
}

/** In the time zone of the browser, in which the page shows times. */
function dayOf(at: string): string {
  return new Date(instantOf(at)).toDateString();
}

/** The answer to a search. */
interface Results {
  readonly text: string;
  /** Undefined if it has failed. */
  readonly found?: Found;
  /** Why it has failed. It stays on the page, which would be blank otherwise. */
  readonly problem?: string;
}

/** The packages that fit the text or, while the answer is awaited, those of the text before. */
function useResults(text: string, { words, fail }: Shared): Results | undefined {
  const [results, setResults] = useState<Results>();
  useEffect(() => {
    const typing = new AbortController();
    const end = (result: Omit<Results, "text">): void => {
      if (!typing.signal.aborted) {
        setResults({ text, ...result });
      }
    };
    searchPackages(text, typing.signal).then(
      (found) => end({ found }),
      (error: unknown) => {
        if (error instanceof RequestError && error.status !== 401) {
          end({ problem: error.text ?? words.sayReason(error.reason) });
        } else if (!typing.signal.aborted) {
          end({});
          fail(error);
        }
      },
    );
    return () => typing.abort();
  }, [text]);
  return results;
}

function countKey(count: number, more = false): TextKey {
  return more ? "foundMore" : count === 0 ? "foundNone" : "found";
}

interface SearchProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly chosen: Case;
  readonly shared: Shared;
}

/** What somebody wants of the results as soon as they are there. */
type Entering = "choose" | "open";

/** Whether a key writes a character, and is no shortcut. A space also ticks a check box and presses a button. */
function isCharacter(event: KeyboardEvent): boolean {
  const isShortcut = (event.ctrlKey || event.altKey || event.metaKey) && !event.getModifierState("AltGraph");
  return event.key.length === 1 && event.key !== " " && !isShortcut;
}

/** Scanners that type send the group separator of a GS1 code as Ctrl+], which writes nothing by itself. */
const groupSeparator = "\u001d";

/**
 * Finds packages while somebody types. The arrow keys lead from the field through the results; Enter opens the only result,
 * as after a scan of a label. Results of an earlier text are shown, but cannot be opened. What is typed next replaces the text:
 * a scanner does not empty the field.
 */
export function Search({ text, onText, chosen, shared }: SearchProps): VNode {
  const { words } = shared;
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const results = useResults(text, shared);
  const found = results?.found?.packages;
  const isPending = results?.text !== text;
  const waiting = useRef<Entering | undefined>(undefined);
  useLayoutEffect(beginText, []);
  useLayoutEffect(() => {
    if (!isPending && waiting.current !== undefined) {
      enterResults(waiting.current);
    }
  }, [results]);

  function beginText(): void {
    field.current?.focus();
    field.current?.select();
  }
  const links = (): HTMLAnchorElement[] => [...(list.current?.querySelectorAll("a") ?? [])];
  function enterResults(how: Entering): void {
    waiting.current = isPending ? how : undefined;
    const [first, ...others] = isPending ? [] : links();
    if (how === "open" && others.length === 0) {
      first?.click();
    } else {
      first?.focus();
    }
  }
  function move(event: KeyboardEvent): void {
    // These keys also choose among what an input method suggests.
    if (event.isComposing) {
      return;
    }
    const isInField = document.activeElement === field.current;
    if (event.ctrlKey && event.key === "]") {
      event.preventDefault();
      insert(groupSeparator, isInField);
      return;
    }
    if (isInField && (event.key === "Enter" || event.key === "ArrowDown")) {
      event.preventDefault();
      if (event.key === "Enter") {
        field.current?.select();
      }
      enterResults(event.key === "Enter" ? "open" : "choose");
      return;
    }
    if (!isInField && isCharacter(event)) {
      // The key is for the field then.
      beginText();
      return;
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) {
      return;
    }
    event.preventDefault();
    const all = links();
    const at = all.findIndex((link) => link === document.activeElement) + step;
    (at < 0 ? field.current : all[Math.min(at, all.length - 1)])?.focus();
  }
  function insert(character: string, isInField: boolean): void {
    if (!isInField) {
      beginText();
    }
    const { current } = field;
    if (current !== null) {
      current.setRangeText(character, current.selectionStart ?? 0, current.selectionEnd ?? 0, "end");
      waiting.current = undefined;
      onText(current.value);
    }
  }
  function type(event: InputEvent & { readonly currentTarget: HTMLInputElement }): void {
    waiting.current = undefined;
    onText(event.currentTarget.value);
  }
  return (
    <section class="search" aria-labelledby="search-label" onKeyDown={move}>
      <label id="search-label" for="search">
        {words.say("search")}
      </label>
      <input
        ref={field}
        id="search"
        type="search"
        autocomplete="off"
        spellcheck={false}
        maxLength={200}
        value={text}
        onInput={type}
      />
      <p class="hint">{words.say("searchHint")}</p>
      <p class="hint" id="result-count" role="status">
        {found === undefined
          ? results?.problem
          : words.say(countKey(found.length, results?.found?.more), { count: found.length })}
      </p>
      {found !== undefined && found.length > 0 && <p class="hint">{words.say("listNotVerified")}</p>}
      {chosen.ids.size > 0 && <CaseBar chosen={chosen} shared={shared} />}
      <ol ref={list} id="results" aria-busy={isPending} inert={isPending}>
        {(found ?? []).map((one) => (
          <Result key={one.packageId} one={one} chosen={chosen} shared={shared} />
        ))}
      </ol>
    </section>
  );
}
