import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";

import type { Filter } from "./api.ts";

/** What somebody looks for. */
export interface Sought {
  readonly text: string;
  readonly filter: Filter;
}

interface Address {
  readonly id: string | null;
  readonly leave: () => void;
  readonly sought: Sought;
  readonly seek: (more: Partial<Sought>) => void;
  /** Puts the search into the address: what was answered, not each character. */
  readonly keep: () => void;
  readonly forget: () => void;
}

/**
 * The package and the search that the address names behind its `#`, which browsers do not send: `#package=<id>` or `#text=<text>`. Both
 * are there again after a reload; that of a package keeps the search that has led to it in the history of the browser.
 */
export function useAddress(): Address {
  const [id, setId] = useState(namedPackage);
  const [sought, setSought] = useState(() =>
    soughtAt(id === null ? location.hash : String(history.state ?? "")),
  );
  useEffect(() => {
    const follow = ({ newURL }: HashChangeEvent): void => {
      setId(namedPackage());
      // The page itself may have changed the address since.
      const { hash } = new URL(newURL);
      if (namedPackage() === null && hash !== "") {
        setSought((before) => (addressOf(before) === hash ? before : soughtAt(hash)));
      }
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const write = (address: string): void => {
    try {
      history.replaceState(address, "", id === null ? location.pathname + location.search + address : null);
    } catch {
      // WebKit lets a page do that a hundred times in half a minute. The next search is in the address again.
    }
  };
  const keep = (): void => write(addressOf(sought));
  useLayoutEffect(keep, [id]);
  const leave = useCallback((): void => {
    location.hash = "";
    setId(null);
  }, []);
  return {
    id,
    leave,
    sought,
    seek: (more) => setSought((before) => ({ ...before, ...more })),
    keep,
    forget() {
      setSought(soughtAt(""));
      write("");
    },
  };
}

function namedPackage(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("package");
}

function addressOf({ text, filter }: Sought): string {
  const said = Object.entries({ text, ...filter }).flatMap(([name, value]) =>
    value === "" || value === false ? [] : [[name, String(value)]],
  );
  return said.length === 0 ? "" : `#${String(new URLSearchParams(said))}`;
}

function soughtAt(address: string): Sought {
  const said = new URLSearchParams(address.slice(1));
  const of = (name: string): string => said.get(name) ?? "";
  const [film, onHold, incomplete] = [said.has("film"), said.has("onHold"), said.has("incomplete")];
  const filter = { device: of("device"), work: of("work"), from: of("from"), to: of("to") };
  return { text: of("text"), filter: { ...filter, film, onHold, incomplete } };
}
