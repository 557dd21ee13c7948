import type { VNode } from "preact";
import { Switch } from "../../ui/choices.tsx";
import type { Media } from "../../ui/viewer.tsx";
import type { Actions } from "./control.ts";
import { Copied } from "./widgets.tsx";
import type { Entry } from "./simulated.ts";
import type { MediaItem, State, Transaction } from "./shapes.ts";
import { clock, outcome, references, trigger } from "./words.ts";

function kindOf({ kind, trigger: by }: Transaction): string {
  if (kind === "measurement") {
    return `Measured ${trigger(by)}`;
  }
  return kind === "video" ? "Video" : "Placed by hand";
}

function facts({ barcodeReference, ...rest }: Transaction): string {
  const given = references(rest);
  const parts = [
    ...(given === "" ? [] : [`Reference ${given}`]),
    ...(barcodeReference === null ? [] : [`Barcode ${barcodeReference}`]),
  ];
  return parts.join(" · ");
}

function words({ description, contentType }: MediaItem): string {
  return description === "" ? contentType : description;
}

interface MediumProps {
  readonly transactionId: string;
  readonly item: MediaItem;
  readonly view: (media: Media) => void;
}

function Medium({ transactionId, item, view }: MediumProps): VNode {
  const name = words(item);
  const isImage = item.contentType.startsWith("image/");
  if (!isImage && !item.contentType.startsWith("video/")) {
    return <span class="other">{name}</span>;
  }
  const url = `media/${encodeURIComponent(transactionId)}/${encodeURIComponent(item.contentId)}`;
  const open = (): void =>
    view({ url, kind: isImage ? "image" : "video", title: `${name}, transaction ${transactionId}` });
  return isImage ? (
    <button type="button" class="thumb" title={name} onClick={open}>
      <img alt={name} width="112" height="84" src={url} />
    </button>
  ) : (
    <button type="button" class="thumb film" title={name} aria-label={name} onClick={open}>
      <svg viewBox="0 0 24 24" aria-hidden>
        <path d="M8 5v14l11-7z" />
      </svg>
    </button>
  );
}

interface RowProps {
  readonly entry: Entry;
  readonly view: (media: Media) => void;
}

function Row({ entry: { transaction, posts }, view }: RowProps): VNode {
  const { id, at, measurement, media } = transaction;
  const given = facts(transaction);
  return (
    <li>
      <p class="line">
        <b class="id">{id}</b>
        <span class="kind">{kindOf(transaction)}</span>
        <time>{clock(at)}</time>
      </p>
      {measurement !== null && (
        <p class="size" data-kind={measurement.errorCode === 0 ? "good" : "broken"}>
          {outcome(measurement)}
        </p>
      )}
      {given !== "" && <p class="refs">{given}</p>}
      <div class="media">
        {media.map((item) => (
          <Medium key={item.contentId} transactionId={id} item={item} view={view} />
        ))}
      </div>
      {posts.length > 0 && (
        <p class="posts">
          {posts
            .map((post) => `Record posted to ${post.url}: ${post.statusCode ?? post.error ?? ""}`)
            .join("\n")}
        </p>
      )}
    </li>
  );
}

interface CloudProps {
  readonly cloud: State["cloud"];
  readonly entries: readonly Entry[];
  readonly actions: Actions;
}

/** The list of transactions in the cloud, the latest first, with their media as they arrive. */
export function Cloud({ cloud, entries, actions: { control, say, view } }: CloudProps): VNode {
  return (
    <section class="card cloud" aria-labelledby="cloud-title">
      <div class="head">
        <h2 id="cloud-title">Cloud</h2>
        <Copied id="cloud-address" title="Copy the address" text={cloud.origin} say={say} />
      </div>
      <dl class="facts">
        <div>
          <dt>Token</dt>
          <dd>
            <Copied id="cloud-token" title="Copy the token" text={cloud.token} say={say} />
          </dd>
        </div>
        <div>
          <dt>Registration code</dt>
          <dd>
            <Copied id="cloud-code" title="Copy the registration code" text={cloud.deviceCode} say={say} />
          </dd>
        </div>
      </dl>
      <Switch
        id="simulation-mode"
        class="inline"
        isOn={cloud.simulationMode}
        send={(on) => control.send("simulation-mode", { on })}
      >
        Simulation mode
      </Switch>
      {entries.length === 0 && (
        <p class="nothing" id="no-transactions">
          Each measurement and each video becomes a transaction here. Its images follow a little later.
        </p>
      )}
      <ol id="transactions">
        {entries.toReversed().map((entry) => (
          <Row key={entry.transaction.id} entry={entry} view={view} />
        ))}
      </ol>
    </section>
  );
}
