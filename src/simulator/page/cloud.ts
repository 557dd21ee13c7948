import { copyButton, type Control } from "./control.ts";
import {
  bindSwitch,
  byId,
  fromTemplate,
  keyedList,
  oncePerFrame,
  setText,
  setTextOrHide,
  within,
} from "./dom.ts";
import type { MediaItem, Post, State, Transaction } from "./shapes.ts";
import type { View } from "./viewer.ts";
import { clock, outcome, references, trigger } from "./words.ts";

const mostShown = 50;

/** A transaction and the posts of its record. Each change creates a new object, so that the list notices it. */
interface Entry {
  readonly transaction: Transaction;
  readonly posts: readonly Post[];
}

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

function mediaRow(
  transactionId: string,
  item: MediaItem,
  view: View,
): { element: HTMLElement; show(): void } {
  const url = `media/${encodeURIComponent(transactionId)}/${encodeURIComponent(item.contentId)}`;
  const isImage = item.contentType.startsWith("image/");
  if (!isImage && !item.contentType.startsWith("video/")) {
    const element = fromTemplate("media-other");
    setText(element, words(item));
    return { element, show: () => undefined };
  }
  const kind = isImage ? "image" : "video";
  const element = fromTemplate(`media-${kind}`);
  element.title = words(item);
  if (isImage) {
    const image = within(element, "img", HTMLImageElement);
    image.alt = words(item);
    image.src = url;
  } else {
    element.setAttribute("aria-label", words(item));
  }
  element.addEventListener("click", () => view(url, kind, `${words(item)}, transaction ${transactionId}`));
  return { element, show: () => undefined };
}

function row(first: Entry, view: View): { element: HTMLElement; show(entry: Entry): void } {
  const element = fromTemplate("transaction-row");
  const part = (selector: string): HTMLElement => within(element, selector, HTMLElement);
  const { id, at, measurement } = first.transaction;
  const showMedia = keyedList(
    part(".media"),
    (item: MediaItem) => item.contentId,
    (item) => mediaRow(id, item, view),
  );
  setText(part(".id"), id);
  setText(part(".kind"), kindOf(first.transaction));
  setText(part("time"), clock(at));
  setTextOrHide(part(".size"), measurement === null ? "" : outcome(measurement));
  part(".size").dataset["kind"] = measurement === null || measurement.errorCode === 0 ? "good" : "broken";
  setTextOrHide(part(".refs"), facts(first.transaction));
  return {
    element,
    show({ transaction, posts }) {
      showMedia(transaction.media);
      const told = posts.map(
        (post) => `Record posted to ${post.url}: ${post.statusCode ?? post.error ?? ""}`,
      );
      setTextOrHide(part(".posts"), told.join("\n"));
    },
  };
}

export interface Cloud {
  begin(transactions: readonly Transaction[], posts: readonly Post[]): void;
  show(state: State): void;
  add(transaction: Transaction): void;
  addMedia(transactionId: string, item: MediaItem): void;
  addPost(post: Post): void;
}

/** The list of transactions in the cloud, the latest first, with their media as they arrive. */
export function createCloud(control: Control, view: View): Cloud {
  const known = new Map<string, Entry>();
  const nothing = byId("no-transactions", HTMLElement);
  const showSimulation = bindSwitch("simulation-mode", (on) => control.post("simulation-mode", { on }));
  const list = keyedList(
    byId("transactions", HTMLElement),
    (entry: Entry) => entry.transaction.id,
    (entry) => row(entry, view),
  );
  const [address, token, code] = [
    copyButton("cloud-address", control),
    copyButton("cloud-token", control),
    copyButton("cloud-code", control),
  ];

  const render = oncePerFrame(() => {
    nothing.hidden = known.size > 0;
    list([...known.values()].toReversed());
  });
  function change(id: string, how: (entry: Entry) => Entry): void {
    const entry = known.get(id);
    if (entry !== undefined) {
      known.set(id, how(entry));
    }
    render();
  }
  function add(transaction: Transaction): void {
    known.set(transaction.id, { transaction, posts: [] });
    const [oldest] = known.keys();
    if (known.size > mostShown && oldest !== undefined) {
      known.delete(oldest);
    }
    render();
  }
  function addPost(post: Post): void {
    change(post.transactionId, (entry) => ({ ...entry, posts: [...entry.posts, post] }));
  }

  return {
    begin(transactions, posts) {
      known.clear();
      transactions.forEach(add);
      posts.forEach(addPost);
      render();
    },
    show({ cloud }) {
      address(cloud.origin);
      token(cloud.token);
      code(cloud.deviceCode);
      showSimulation(cloud.simulationMode);
    },
    add,
    addMedia(transactionId, item) {
      change(transactionId, ({ transaction, posts }) => ({
        transaction: { ...transaction, media: [...transaction.media, item] },
        posts,
      }));
    },
    addPost,
  };
}
