import { render, type VNode } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";

import { useNotice } from "../../../ui/notice.tsx";
import { Viewer, type Media } from "../../../ui/viewer.tsx";
import { logOut, noFilter, readLanguage, readMe, RequestError } from "./api.ts";
import { useCase } from "./case.tsx";
import { forgetSearches } from "./last-searches.ts";
import { Login } from "./login.tsx";
import { PackageView } from "./package-view.tsx";
import { Search } from "./search.tsx";
import type { Me } from "./shapes.ts";
import type { Shared } from "./shared.ts";
import { createWords, type Words } from "./words.ts";

/** The package that the address names: `#package=<id>`. */
function useChosenPackage(): string | null {
  const read = (): string | null => new URLSearchParams(location.hash.slice(1)).get("package");
  const [id, setId] = useState(read);
  useEffect(() => {
    const follow = (): void => setId(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return id;
}

function Page({ words }: { readonly words: Words }): VNode {
  const [me, setMe] = useState<Me>();
  const [problem, setProblem] = useState<RequestError>();
  const [text, setText] = useState("");
  const [filter, setFilter] = useState(noFilter);
  const [media, view] = useState<Media>();
  const { notice, say } = useNotice();
  const chosen = useCase();
  const id = useChosenPackage();

  const fail = useCallback((error: unknown): void => {
    if (!(error instanceof RequestError)) {
      throw error;
    }
    if (error.status === 401) {
      setMe(undefined);
      setProblem(error);
    } else {
      say(error.text ?? words.sayReason(error.reason));
    }
  }, []);
  const enter = useCallback(async (): Promise<void> => {
    try {
      setMe(await readMe());
      setProblem(undefined);
    } catch (error) {
      setProblem(error instanceof RequestError ? error : new RequestError(0, "noAnswer"));
    }
  }, []);
  useEffect(() => void enter(), []);

  async function leave(): Promise<void> {
    try {
      await logOut();
      if (me !== undefined) {
        forgetSearches(me.name);
      }
      setMe(undefined);
      setText("");
      setFilter(noFilter);
      chosen.empty();
      setProblem(new RequestError(401, "logIn"));
    } catch (error) {
      fail(error);
    }
  }

  const shared: Shared | undefined = me === undefined ? undefined : { words, me, say, view, fail };
  return (
    <>
      <header>
        <img src="icon.svg" alt="" width="28" height="28" />
        <h1>
          <a href="#">{words.say("title")}</a>
        </h1>
        {me !== undefined && (
          <p class="person">
            {me.name}
            {me.right === "read" && <span class="hint"> ({words.say("readOnly")})</span>}
          </p>
        )}
        {me?.canLogOut === true && (
          <button type="button" id="log-out" onClick={() => void leave()}>
            {words.say("logOut")}
          </button>
        )}
      </header>
      <main>
        {shared === undefined && problem?.reason === "logIn" && <Login words={words} onDone={enter} />}
        {shared === undefined && problem !== undefined && problem.reason !== "logIn" && (
          <p class="card" role="alert">
            {problem.text ?? words.sayReason(problem.reason)}
          </p>
        )}
        {shared !== undefined && id === null && (
          <Search
            text={text}
            onText={setText}
            filter={filter}
            onFilter={setFilter}
            chosen={chosen}
            shared={shared}
          />
        )}
        {shared !== undefined && id !== null && <PackageView key={id} id={id} shared={shared} />}
      </main>
      {notice}
      <Viewer media={media} close={words.say("close")} onClose={() => view(undefined)} />
    </>
  );
}

async function start(): Promise<void> {
  const place = document.getElementById("page");
  const { lang, texts } = await readLanguage();
  const words = createWords(lang, texts);
  document.documentElement.lang = lang;
  document.title = words.say("title");
  if (place !== null) {
    render(<Page words={words} />, place);
  }
}

void start();
