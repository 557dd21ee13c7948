import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { visibleText } from "../../../rules/visible-text.ts";
import { nameOfWork } from "../../../rules/works.ts";
import { firstOfEach } from "../../../rules/first-of-each.ts";
import { byContent, captionsOf, mediaKindOf } from "../../../rules/media-kinds.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import type { Media } from "../../../ui/viewer.tsx";
import { fileAddress, readPackage, RequestError } from "./api.ts";
import { ExportButton } from "./downloads.tsx";
import { Hold, Numbers } from "./forms.tsx";
import { isCharacter } from "./search.tsx";
import type { Evidence, PackageFile } from "./shapes.ts";
import type { Shared } from "./shared.ts";
import { Verify } from "./verify.tsx";
import { useTries, Wait, Marks } from "./states.tsx";
import { nameOf, sizeOf, type TextKey, weightOf, type Words } from "./words.ts";

interface PartProps {
  readonly one: Evidence;
  readonly shared: Shared;
}

interface FactsProps {
  readonly class: string;
  readonly facts: readonly (readonly [TextKey, string | null])[];
  readonly words: Words;
}

/** Names and values; what nobody knows is left out. */
function FactList({ class: classes, facts, words }: FactsProps): VNode {
  return (
    <dl class={classes}>
      {facts.map(
        ([key, value]) =>
          value !== null && (
            <div key={key}>
              <dt>{words.say(key)}</dt>
              <dd>{visibleText(value)}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function Figures({ one, shared: { words } }: PartProps): VNode {
  const legal = one.legalForTrade === null ? "unknown" : one.legalForTrade ? "yes" : "no";
  const facts: FactsProps["facts"] = [
    ["size", sizeOf(one, words) || null],
    ["billable", one.billable === null ? null : weightOf(one.billable, words)],
    ["legalForTrade", words.say(legal)],
    ["measuredAt", one.measuredAtUtc === null ? null : words.time(one.measuredAtUtc)],
  ];
  return <FactList class="figures" facts={facts} words={words} />;
}

function Facts({ one, shared: { words } }: PartProps): VNode {
  const time = (iso: string | null): string | null => (iso === null ? null : words.time(iso));
  const facts: FactsProps["facts"] = [
    ["transactionReference", one.transactionReference],
    ["customReference1", one.customReference1],
    ["customReference2", one.customReference2],
    ["customReference3", one.customReference3],
    ["barcode", one.barcodeReference ?? one.scan],
    ["transactionId", one.transactionId],
    ["operator", one.operator],
    ["work", one.work === null ? null : nameOfWork(one.work, (key) => words.say(key))],
    ["note", one.note],
    ["device", one.device],
    ["serialNumber", one.deviceSerialNumber],
    ["certificate", one.deviceCertificate],
    ["archivedAt", time(one.archivedAtUtc)],
    ["lastVerified", time(one.verifiedAtUtc) ?? words.say("never")],
    ["missing", one.missing.length === 0 ? null : one.missing.join(", ")],
    ["supplements", one.supplements],
    ["location", one.location],
  ];
  return <FactList class="facts" facts={facts} words={words} />;
}

/** Which times of the package do not fit together; nothing if all do. */
function TimesInDoubt({ one: { timesInDoubt }, shared: { words } }: PartProps): VNode | null {
  const say = (which: string, at: string): string => `${words.sayWhich(which)}: ${words.time(at)}`;
  return timesInDoubt.length === 0 ? null : (
    <div id="times-in-doubt" class="note">
      <p>{words.say("timesInDoubt")}</p>
      <ul>
        {timesInDoubt.map(({ first, firstAt, second, secondAt }) => (
          <li key={`${first} ${second}`}>
            {visibleText(say(first, firstAt))}; {visibleText(say(second, secondAt))}
          </li>
        ))}
      </ul>
    </div>
  );
}

/**
 * The videos, the first one large, and below them the pictures in one row; without a video, the first picture is the large one. What is there
 * twice is shown once; the list of files has all.
 */
function Stage({ one, shared }: PartProps): VNode | null {
  const { words, view } = shared;
  const files = byContent(one.files).flatMap(([first]) => first ?? []);
  const captions = captionsOf(files, (kind) => words.say(kind));
  const all = files.map((file, index) => ({
    file,
    url: fileAddress(one.packageId, one.files.indexOf(file)),
    caption: visibleText(captions[index] ?? file.name),
  }));
  const isVideo = (type: string | null): boolean => type?.startsWith("video/") === true;
  const isPicture = (type: string | null): boolean => type?.startsWith("image/") === true;
  const videos = all.filter(({ file }) => isVideo(file.contentType));
  const pictures = all.filter(({ file }) => isPicture(file.contentType));
  const others = all.filter(({ file }) => !isVideo(file.contentType) && !isPicture(file.contentType));
  // What the device has drawn the dimensions into says most.
  const isDrawn = ({ file }: (typeof all)[number]): boolean => mediaKindOf(file) === "pictureWithDimensions";
  pictures.sort((first, second) => Number(isDrawn(second)) - Number(isDrawn(first)));
  const album = pictures.map(({ url, caption }): Media => ({
    url,
    kind: "image",
    title: `${caption}, ${nameOf(one)}`,
  }));
  if (all.length === 0) {
    return null;
  }
  return (
    <div class="media">
      {videos.map((video) => (
        <Video key={video.url} {...video} poster={pictures[0]?.url} shared={shared} />
      ))}
      <div class={videos.length === 0 ? "pictures first" : "pictures"}>
        {pictures.map((picture, at) => (
          <Picture
            key={picture.url}
            {...picture}
            onOpen={() => album[at] !== undefined && view(album[at], album)}
            words={words}
          />
        ))}
      </div>
      {others.map(({ file, url, caption }) => (
        <a key={file.name} href={url} download={file.name}>
          {words.say("save", { name: caption })}
        </a>
      ))}
    </div>
  );
}

interface MediumProps {
  readonly file: PackageFile;
  readonly url: string;
  readonly caption: string;
}

interface PictureProps extends MediumProps {
  readonly onOpen: () => void;
  readonly words: Words;
}

/** A picture that opens in full size or, where this browser cannot show it, such as TIFF or HEIC, can be saved. */
function Picture({ file, url, caption, onOpen, words }: PictureProps): VNode {
  const [isShown, setShown] = useState(true);
  return (
    <figure>
      <button type="button" class="thumb" title={caption} onClick={onOpen}>
        <img src={url} alt={caption} loading="lazy" onError={() => setShown(false)} />
      </button>
      <figcaption>{caption}</figcaption>
      {!isShown && (
        <p class="problem">
          {words.say("notShown")}{" "}
          <a href={url} download={file.name}>
            {words.say("save", { name: file.name })}
          </a>
        </p>
      )}
    </figure>
  );
}

interface VideoProps extends MediumProps {
  readonly poster: string | undefined;
  readonly shared: Shared;
}

/** A video that plays here or, where this browser cannot do that, can be saved. */
function Video({ file, url, caption, poster, shared: { words } }: VideoProps): VNode {
  const [isPlayable, setPlayable] = useState(true);
  const failed = ({ currentTarget }: { readonly currentTarget: HTMLVideoElement }): void => {
    const code = currentTarget.error?.code;
    setPlayable(code !== MediaError.MEDIA_ERR_DECODE && code !== MediaError.MEDIA_ERR_SRC_NOT_SUPPORTED);
  };
  return (
    <figure class="video">
      <video
        src={url}
        poster={poster}
        controls
        playsInline
        preload="metadata"
        aria-label={caption}
        onError={failed}
      />
      <figcaption>
        {caption} ·{" "}
        <a href={url} download={file.name}>
          {words.say("save", { name: file.name })}
        </a>
      </figcaption>
      {!isPlayable && (
        <p class="problem" role="alert">
          {words.say("notPlayable")}
        </p>
      )}
    </figure>
  );
}

function Files({ one, shared }: PartProps): VNode {
  const { words } = shared;
  return (
    <details>
      <summary>{words.say("files")}</summary>
      <div class="scroll" role="region" aria-label={words.say("files")} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.say("file")}</th>
              <th scope="col">{words.say("bytes")}</th>
              <th scope="col">SHA-256</th>
            </tr>
          </thead>
          <tbody>
            {firstOfEach(one.files, ({ name }) => name).map(({ name, bytes, sha256 }) => (
              <tr key={name}>
                <td>{visibleText(name)}</td>
                <td>{words.bytes(bytes)}</td>
                <td class="hash">{sha256}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

interface PackageViewProps {
  readonly id: string;
  readonly onLeave: () => void;
  readonly shared: Shared;
}

/** One package, with what may be done with it. */
export function PackageView({ id, onLeave, shared }: PackageViewProps): VNode {
  const { words, say, fail } = shared;
  const [one, setOne] = useState<Evidence>();
  /** Why it cannot be shown. It stays on the page, which would be blank otherwise. */
  const [problem, setProblem] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const [tries, failed] = useTries();
  useEffect(() => {
    const leaving = new AbortController();
    const show = (found: Evidence): void => {
      if (!leaving.signal.aborted) {
        setProblem("");
        setOne(found);
      }
    };
    readPackage(id, leaving.signal).then(show, (error: unknown) => {
      if (error instanceof RequestError && error.status !== 401 && !leaving.signal.aborted) {
        setProblem(error.text ?? words.sayReason(error.reason));
        failed(error);
      } else if (!leaving.signal.aborted) {
        fail(error);
      }
    });
    return () => leaving.abort();
  }, [id, tries]);
  // The next label is scanned while the package of the last one is shown: its first key is already for the search, which has the focus then.
  useEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      const isForOther = event.target instanceof Element && event.target.closest("input, dialog") !== null;
      if (isCharacter(event) && !isForOther) {
        onLeave();
      }
    };
    document.addEventListener("keydown", leave);
    return () => document.removeEventListener("keydown", leave);
  }, []);
  // People have several packages open, each in a tab of the browser.
  useLayoutEffect(() => {
    const title = words.say("title");
    document.title = one === undefined ? title : `${nameOf(one)} – ${title}`;
    return () => {
      document.title = title;
    };
  }, [one?.packageId]);
  // A screen reader begins with the package, not with the page.
  useLayoutEffect(() => heading.current?.focus(), [one?.packageId]);
  return (
    <article class="card package" aria-labelledby="package-title">
      <p>
        <a href="#" id="back">
          {words.say("back")}
        </a>
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
      {one === undefined && problem === "" && (
        <p role="status">
          <Wait words={words} />
        </p>
      )}
      {one !== undefined && (
        <>
          <div class="head">
            <h2 id="package-title" ref={heading} tabIndex={-1}>
              {nameOf(one)}
            </h2>
            <Marks one={one} shared={shared} />
            <CopyButton
              id="copy-link"
              title={words.say("copyLink")}
              text={location.href}
              label={words.say("copyLink")}
              copied={words.say("copied")}
              notCopied={words.say("notCopied")}
              say={say}
            />
            <ExportButton id="export" label={words.say("export")} packages={[id]} shared={shared} />
          </div>
          {one.problem !== null && <p class="problem">{one.problem}</p>}
          <div class="desk">
            <Stage one={one} shared={shared} />
            <div class="beside">
              <Figures one={one} shared={shared} />
              <TimesInDoubt one={one} shared={shared} />
              <Verify
                id={id}
                onVerified={({ verifiedAtUtc, damage, timesInDoubt }) =>
                  setOne({ ...one, verifiedAtUtc, damage, timesInDoubt })
                }
                shared={shared}
              />
              <Hold one={one} onChange={setOne} shared={shared} />
              <Numbers one={one} onChange={setOne} shared={shared} />
            </div>
          </div>
          <Facts one={one} shared={shared} />
          <Files one={one} shared={shared} />
        </>
      )}
    </article>
  );
}
