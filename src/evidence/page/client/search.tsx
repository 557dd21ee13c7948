import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { instantOf, isUnset } from "../../../rules/instants.ts";
import { visibleText } from "../../../rules/visible-text.ts";
import { fileAddress, listUndelivered, RequestError, searchPackages, type Filter } from "./api.ts";
import { CaseBar, type Case } from "./case.tsx";
import { Filters } from "./filters.tsx";
import { forgetSearches, lastSearches, rememberSearch } from "./last-searches.ts";
import { TableButton } from "./downloads.tsx";
import type { Evidence, Found, Undelivered } from "./shapes.ts";
import type { Shared } from "./shared.ts";
import { useTries, Wait, Marks } from "./states.tsx";
import { nameOf, sizeOf, type TextKey, type Words } from "./words.ts";

interface ResultProps {
  readonly one: Evidence;
  readonly chosen: Case;
  readonly onOpen: () => void;
  readonly shared: Shared;
}

function Result({ one, chosen, onOpen, shared }: ResultProps): VNode {
  const { words } = shared;
  const hasPicture = one.files.some(({ contentType }) => contentType?.startsWith("image/") === true);
  const isInCase = chosen.ids.has(one.packageId);
  const { measuredAtUtc: measuredAt, archivedAtUtc: archivedAt } = one;
  const time = (name: "measuredAt" | "archivedAt", at: string): string =>
    `${words.say(name)}: ${words.time(at)}`;
  // A day finds what was archived on it.
  const isMeasuredThen =
    measuredAt !== null && !isUnset(measuredAt) && dayOf(measuredAt) === dayOf(archivedAt ?? "");
  const facts = [
    one.device === null ? null : visibleText(one.device),
    measuredAt === null ? null : time("measuredAt", measuredAt),
    archivedAt === null || isMeasuredThen ? null : time("archivedAt", archivedAt),
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
      <a class="result" href={`#package=${encodeURIComponent(one.packageId)}`} onClick={onOpen}>
        <span class="picture">
          {hasPicture && (
            <img
              src={fileAddress(one.packageId, "picture")}
              alt=""
              loading="lazy"
              width="112"
              height="84"
              // A picture that cannot be shown is said on the page of its package.
              onError={({ currentTarget }) => (currentTarget.hidden = true)}
            />
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
  readonly filter: Filter;
  /** Undefined if it has failed. */
  readonly found?: Found;
  /** Why it has failed. It stays on the page, which would be blank otherwise. */
  readonly problem?: string;
}

/** The packages that fit the text and the filter or, while the answer is awaited, those of the search before. */
function useResults(text: string, filter: Filter, { words, fail }: Shared): Results | undefined {
  const [results, setResults] = useState<Results>();
  const [tries, failed] = useTries();
  useEffect(() => {
    const typing = new AbortController();
    const end = (result: Omit<Results, "text" | "filter">): void => {
      if (!typing.signal.aborted) {
        setResults({ text, filter, ...result });
      }
    };
    searchPackages(text, filter, typing.signal).then(
      (found) => end({ found }),
      (error: unknown) => {
        if (error instanceof RequestError && error.status !== 401) {
          end({ problem: error.text ?? words.sayReason(error.reason) });
          if (!typing.signal.aborted) {
            failed(error);
          }
        } else if (!typing.signal.aborted) {
          end({});
          fail(error);
        }
      },
    );
    return () => typing.abort();
  }, [text, filter, tries]);
  return results;
}

function countKey(text: string, count: number, more = false): TextKey {
  if (count === 0) {
    return "foundNone";
  }
  const isAll = text.trim() === "";
  return more ? (isAll ? "foundMore" : "foundByTextMore") : isAll ? "found" : "foundByText";
}

/** The time zone of the browser, with its difference from UTC: `Europe/Berlin, GMT+1`. */
function zoneOf({ lang }: Words): string {
  const format = new Intl.DateTimeFormat(lang, { timeZoneName: "shortOffset" });
  const parts = format.formatToParts();
  const offset = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  const { timeZone } = format.resolvedOptions();
  return timeZone === offset ? offset : `${timeZone}, ${offset}`;
}

/** What fits the text, and is not where the packages are yet. */
function NotDelivered({ text, words }: { readonly text: string; readonly words: Words }): VNode | null {
  const [found, setFound] = useState<Undelivered>();
  useEffect(() => {
    const typing = new AbortController();
    // Where this fails, the search itself says why.
    listUndelivered(text, typing.signal).then(setFound, () => undefined);
    return () => typing.abort();
  }, [text]);
  const list = (id: "pinned" | "undelivered", { packages, count }: Undelivered["pinned"]): VNode | null => {
    const names = packages.map(({ transactionReference, transactionId, acceptedAtUtc, computer }) => {
      const name = visibleText(transactionReference ?? transactionId ?? "–");
      const facts = [words.time(acceptedAtUtc), ...(computer === null ? [] : [visibleText(computer)])];
      return `${name} (${facts.join(", ")})`;
    });
    return count === 0 ? null : (
      <p id={id}>
        {words.say(id, { count })} {names.join(", ")}
        {names.length < count && ", …"}
      </p>
    );
  };
  return found === undefined ? null : (
    <>
      {list("undelivered", found)}
      {list("pinned", found.pinned)}
    </>
  );
}

interface TextsProps {
  readonly id: string;
  readonly label: string;
  readonly texts: readonly string[];
  readonly onText: (text: string) => void;
}

/** Texts to search for instead. */
function Texts({ id, label, texts, onText }: TextsProps): VNode {
  return (
    <p id={id} class="row">
      {label}
      {texts.map((text) => (
        <button key={text} type="button" onClick={() => onText(text)}>
          {visibleText(text)}
        </button>
      ))}
    </p>
  );
}

interface SearchProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly onAnswered: () => void;
  readonly chosen: Case;
  /** How far the page was scrolled when a result was opened. */
  readonly scrolled: { current: number };
  readonly shared: Shared;
}

/** What somebody wants of the results as soon as they are there. */
type Entering = "choose" | "open";

/** Whether a key writes a character, and is no shortcut. A space also ticks a check box and presses a button. */
export function isCharacter(event: KeyboardEvent): boolean {
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
export function Search(props: SearchProps): VNode {
  const { text, onText, filter, onFilter, onAnswered, chosen, scrolled, shared } = props;
  const { words, me } = shared;
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const results = useResults(text, filter, shared);
  const found = results?.found?.packages;
  const isPending = results?.text !== text || results.filter !== filter;
  const said =
    found === undefined
      ? results?.problem
      : words.say(countKey(results?.text ?? "", found.length, results?.found?.more), { count: found.length });
  const [last, setLast] = useState(() => lastSearches(me.name));
  const waiting = useRef<Entering | undefined>(undefined);
  useLayoutEffect(beginText, []);
  useLayoutEffect(() => {
    if (!isPending) {
      onAnswered();
    }
    if (!isPending && scrolled.current > 0) {
      scrollTo(0, scrolled.current);
      scrolled.current = 0;
    }
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
    if (event.target instanceof Element && event.target.closest("#filters") !== null) {
      return;
    }
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
  function instead(other: string): void {
    waiting.current = undefined;
    onText(other);
    field.current?.focus();
  }
  function remember(): void {
    scrolled.current = scrollY;
    if (text.trim() !== "") {
      rememberSearch(me.name, text.trim());
    }
  }
  function forget(): void {
    forgetSearches(me.name);
    setLast([]);
    field.current?.focus();
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
      <p class="hint">{words.say("searchHint", { day: words.day(new Date()) })}</p>
      <Filters filter={filter} onFilter={onFilter} shared={shared} />
      <p class="hint" id="result-count" role="status">
        {isPending ? <Wait words={words}>{said}</Wait> : said}
      </p>
      <NotDelivered text={text} words={words} />
      {results?.found?.onlyBeginnings === true && (
        <p class="hint" id="only-beginnings">
          {words.say("onlyBeginnings")}
        </p>
      )}
      {results?.found !== undefined && results.found.suggestions.length > 0 && (
        <Texts
          id="suggestions"
          label={words.say("tryInstead")}
          texts={results.found.suggestions}
          onText={instead}
        />
      )}
      {found?.length === 0 && last.length > 0 && (
        <>
          <Texts id="last-searches" label={words.say("lastSearches")} texts={last} onText={instead} />
          <p>
            <button type="button" id="forget-searches" onClick={forget}>
              {words.say("forgetSearches")}
            </button>
          </p>
        </>
      )}
      {found !== undefined && found.length > 0 && (
        <p class="hint">
          {words.say("listNotVerified")} {words.say("timeZone", { zone: zoneOf(words) })}
        </p>
      )}
      {found !== undefined && found.length > 0 && <TableButton text={text} filter={filter} shared={shared} />}
      {chosen.ids.size > 0 && <CaseBar chosen={chosen} shared={shared} />}
      <ol ref={list} id="results" aria-busy={isPending} inert={isPending}>
        {(found ?? []).map((one) => (
          <Result key={one.packageId} one={one} chosen={chosen} onOpen={remember} shared={shared} />
        ))}
      </ol>
    </section>
  );
}
