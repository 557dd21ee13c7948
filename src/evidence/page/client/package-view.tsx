import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { visibleText } from "../../../rules/visible-text.ts";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { fileAddress, readPackage, RequestError } from "./api.ts";
import { ExportButton } from "./export-button.tsx";
import { Hold } from "./hold.tsx";
import { Marks } from "./marks.tsx";
import type { Evidence, PackageFile } from "./shapes.ts";
import type { Shared } from "./shared.ts";
import { Verify } from "./verify.tsx";
import { nameOf, sizeOf, type TextKey } from "./words.ts";

interface PartProps {
  readonly one: Evidence;
  readonly shared: Shared;
}

function Facts({ one, shared: { words } }: PartProps): VNode {
  const time = (iso: string | null): string | null => (iso === null ? null : words.time(iso));
  const legal = one.legalForTrade === null ? "unknown" : one.legalForTrade ? "yes" : "no";
  const facts: readonly (readonly [TextKey, string | null])[] = [
    ["size", sizeOf(one, words) || null],
    ["legalForTrade", words.say(legal)],
    ["transactionReference", one.transactionReference],
    ["customReference1", one.customReference1],
    ["customReference2", one.customReference2],
    ["customReference3", one.customReference3],
    ["barcode", one.barcodeReference ?? one.scan],
    ["transactionId", one.transactionId],
    ["device", one.device],
    ["serialNumber", one.deviceSerialNumber],
    ["certificate", one.deviceCertificate],
    ["measuredAt", time(one.measuredAtUtc)],
    ["archivedAt", time(one.archivedAtUtc)],
    ["lastVerified", time(one.verifiedAtUtc) ?? words.say("never")],
    ["missing", one.missing.length === 0 ? null : one.missing.join(", ")],
    ["supplements", one.supplements],
    ["location", one.location],
  ];
  return (
    <dl class="facts">
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

interface FileProps extends PartProps {
  readonly file: PackageFile;
  readonly place: number;
}

/** A picture that opens in full size, a video that plays, or a link to save another file. */
function Medium({ one, shared: { words, view }, file, place }: FileProps): VNode {
  const url = fileAddress(one.packageId, place);
  const title = visibleText(file.description ?? file.name);
  if (file.contentType?.startsWith("image/") === true) {
    return (
      <button
        type="button"
        class="thumb"
        title={title}
        onClick={() => view({ url, kind: "image", title: `${title}, ${nameOf(one)}` })}
      >
        <img src={url} alt={title} loading="lazy" width="224" height="168" />
      </button>
    );
  }
  if (file.contentType === "video/mp4") {
    return <video src={url} controls playsInline preload="metadata" aria-label={title} />;
  }
  return (
    <a href={url} download={file.name}>
      {words.say("save", { name: title })}
    </a>
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
            {one.files.map(({ name, bytes, sha256 }) => (
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

/** One package, with what may be done with it. */
export function PackageView({ id, shared }: { readonly id: string; readonly shared: Shared }): VNode {
  const { words, say, fail } = shared;
  const [one, setOne] = useState<Evidence>();
  /** Why it cannot be shown. It stays on the page, which would be blank otherwise. */
  const [problem, setProblem] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const leaving = new AbortController();
    readPackage(id, leaving.signal).then(
      (found) => !leaving.signal.aborted && setOne(found),
      (error: unknown) => {
        if (error instanceof RequestError && error.status !== 401 && !leaving.signal.aborted) {
          setProblem(error.text ?? words.sayReason(error.reason));
        } else if (!leaving.signal.aborted) {
          fail(error);
        }
      },
    );
    return () => leaving.abort();
  }, [id]);
  // A screen reader begins with the package, not with the page.
  useLayoutEffect(() => heading.current?.focus(), [one?.packageId]);
  return (
    <article class="card" aria-labelledby="package-title">
      <p>
        <a href="#" id="back">
          {words.say("back")}
        </a>
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
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
          <div class="media">
            {one.files.map((file, place) => (
              <Medium key={file.name} one={one} shared={shared} file={file} place={place} />
            ))}
          </div>
          <Facts one={one} shared={shared} />
          <Verify
            id={id}
            onVerified={({ verifiedAtUtc, damage }) => setOne({ ...one, verifiedAtUtc, damage })}
            shared={shared}
          />
          <Hold one={one} onChange={setOne} shared={shared} />
          <Files one={one} shared={shared} />
        </>
      )}
    </article>
  );
}
