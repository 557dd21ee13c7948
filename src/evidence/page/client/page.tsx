import { render, type VNode } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { useNotice } from "../../../ui/notice.tsx";
import { Viewer, type Media } from "../../../ui/viewer.tsx";
import { useAddress } from "./address.ts";
import { logOut, readLanguage, readMe, RequestError } from "./api.ts";
import { useCase } from "./case.tsx";
import { forgetSearches } from "./last-searches.ts";
import { Login } from "./forms.tsx";
import { PackageView } from "./package-view.tsx";
import { Search } from "./search.tsx";
import type { Me } from "./shapes.ts";
import type { Shared } from "./shared.ts";
import { useTries, Wait } from "./states.tsx";
import { createWords, type Words } from "./words.ts";

function Page({ words }: { readonly words: Words }): VNode {
  const [me, setMe] = useState<Me>();
  const [problem, setProblem] = useState<RequestError>();
  const [hasEnded, setEnded] = useState(false);
  /** How far the results were scrolled when one of them was opened. */
  const scrolled = useRef(0);
  const [media, setMedia] = useState<Media>();
  const [album, setAlbum] = useState<readonly Media[]>([]);
  const view = useCallback((shown: Media, all: readonly Media[]): void => {
    setAlbum(all);
    setMedia(shown);
  }, []);
  const { notice, say } = useNotice();
  const chosen = useCase();
  const { id, leave: leavePackage, sought, seek, keep, forget } = useAddress();

  const fail = useCallback((error: unknown): void => {
    if (!(error instanceof RequestError)) {
      throw error;
    }
    if (error.status === 401) {
      setEnded(true);
      setMe(undefined);
      setProblem(error);
    } else {
      say(error.text ?? words.sayReason(error.reason));
    }
  }, []);
  const [tries, failed] = useTries();
  const enter = useCallback(async (): Promise<void> => {
    try {
      const found = await readMe();
      setMe(found ?? undefined);
      setProblem(found === null ? new RequestError(401, "logIn") : undefined);
    } catch (error) {
      setProblem(error instanceof RequestError ? error : new RequestError(0, "noAnswer"));
      failed(error);
    }
  }, []);
  useEffect(() => void enter(), [tries]);

  async function leave(): Promise<void> {
    try {
      await logOut();
      if (me !== undefined) {
        forgetSearches(me.name);
      }
      setMe(undefined);
      setEnded(false);
      forget();
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
        {shared === undefined && problem?.reason === "logIn" && (
          <Login words={words} hasEnded={hasEnded} onDone={enter} />
        )}
        {shared === undefined && problem === undefined && (
          <p role="status">
            <Wait words={words} />
          </p>
        )}
        {shared === undefined && problem !== undefined && problem.reason !== "logIn" && (
          <p class="card" role="alert">
            {problem.text ?? words.sayReason(problem.reason)}
          </p>
        )}
        {shared !== undefined && id === null && (
          <Search
            text={sought.text}
            onText={(text) => seek({ text })}
            filter={sought.filter}
            onFilter={(filter) => seek({ filter })}
            onAnswered={keep}
            chosen={chosen}
            scrolled={scrolled}
            shared={shared}
          />
        )}
        {shared !== undefined && id !== null && (
          <PackageView key={id} id={id} onLeave={leavePackage} shared={shared} />
        )}
      </main>
      {notice}
      <Viewer
        media={media}
        close={words.say("close")}
        onClose={() => setMedia(undefined)}
        album={{
          media: album,
          onMove: setMedia,
          previous: words.say("previous"),
          next: words.say("next"),
          enlarge: words.say("enlarge"),
        }}
      />
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

function begin(): void {
  start().catch(() => setTimeout(begin, 3_000));
}

begin();
