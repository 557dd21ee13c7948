import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { fileAddress, searchPackages } from "./api.ts";
import { Marks } from "./marks.tsx";
import type { Evidence } from "./shapes.ts";
import type { Shared } from "./shared.ts";
import { nameOf, sizeOf } from "./words.ts";

function Result({ one, shared }: { readonly one: Evidence; readonly shared: Shared }): VNode {
  const { words } = shared;
  const hasPicture = one.files.some(({ contentType }) => contentType?.startsWith("image/") === true);
  const at = one.measuredAtUtc ?? one.archivedAtUtc;
  return (
    <li>
      <a class="result" href={`#package=${encodeURIComponent(one.packageId)}`}>
        <span class="picture">
          {hasPicture && (
            <img src={fileAddress(one.packageId, "picture")} alt="" loading="lazy" width="112" height="84" />
          )}
        </span>
        <span class="about">
          <b>{nameOf(one)}</b>
          <span>{sizeOf(one, words)}</span>
          <span class="hint">
            {[one.device, at === null ? null : words.time(at)].filter((part) => part !== null).join(" · ")}
          </span>
          <span>
            <Marks one={one} shared={shared} />
          </span>
        </span>
      </a>
    </li>
  );
}

/** The packages that fit the text; undefined while the first answer is awaited. */
function useResults(text: string, fail: (error: unknown) => void): readonly Evidence[] | undefined {
  const [results, setResults] = useState<readonly Evidence[]>();
  useEffect(() => {
    const typing = new AbortController();
    searchPackages(text, typing.signal).then(
      (found) => !typing.signal.aborted && setResults(found),
      (error: unknown) => !typing.signal.aborted && fail(error),
    );
    return () => typing.abort();
  }, [text]);
  return results;
}

interface SearchProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly shared: Shared;
}

/** Finds packages while somebody types. The arrow keys lead from the field through the results. */
export function Search({ text, onText, shared }: SearchProps): VNode {
  const { words, fail } = shared;
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const results = useResults(text, fail);
  useEffect(() => field.current?.focus(), []);

  function move(event: KeyboardEvent): void {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) {
      return;
    }
    event.preventDefault();
    const links = [...(list.current?.querySelectorAll("a") ?? [])];
    const at = links.findIndex((link) => link === document.activeElement) + step;
    (at < 0 ? field.current : links[Math.min(at, links.length - 1)])?.focus();
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
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      <p class="hint">{words.say("searchHint")}</p>
      <p class="hint" id="result-count" role="status">
        {results !== undefined &&
          words.say(results.length === 0 ? "foundNone" : "found", { count: results.length })}
      </p>
      <ol ref={list} id="results">
        {(results ?? []).map((one) => (
          <Result key={one.packageId} one={one} shared={shared} />
        ))}
      </ol>
    </section>
  );
}
