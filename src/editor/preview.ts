import { isRecord } from "./admin.ts";
import { mayBeTrue } from "./fields.ts";
import type { Form } from "./form.ts";

/** The texts of a type's preview. */
export interface PreviewTexts {
  last(): string;
  none(): string;
  large(size: string): string;
}

/** An image that the runtime has announced. */
interface ImageNotice {
  readonly version: number;
  readonly bytes: number;
  /** Whether the runtime kept it; a large one is not kept. */
  readonly isKept: boolean;
}

/** The last images of one type's nodes. */
export interface PreviewWatch {
  readonly type: string;
  readonly texts: PreviewTexts;
  readonly heard: ReadonlyMap<string, ImageNotice>;
  /** Called with the id of a node whose last image has changed. */
  readonly listeners: Set<(id: string) => void>;
}

const topic = "dimensioner/preview/";

/** Starts to listen for new images; those that exist are announced again. */
export function watchPreviews(type: string, texts: PreviewTexts): PreviewWatch {
  const heard = new Map<string, ImageNotice>();
  const listeners = new Set<(id: string) => void>();
  RED.comms.subscribe(`${topic}#`, (from: string, told: unknown) => {
    const id = from.slice(topic.length);
    const { version, bytes, shown } = isRecord(told) ? told : {};
    if (version === heard.get(id)?.version) {
      // Announced again after the connection was lost.
      return;
    }
    if (typeof version === "number" && typeof bytes === "number" && version > 0) {
      heard.set(id, { version, bytes, isKept: shown === true });
    } else {
      heard.delete(id);
    }
    listeners.forEach((listener) => listener(id));
  });
  return { type, texts, heard, listeners };
}

/** Shows the last image in the node's dialog while the option is on. */
export function previewInDialog(node: object, form: Form, watch: PreviewWatch): void {
  const { id } = node as { id: string };
  const cell = form.field("preview").closest(".dimensioner-field");
  const place = $("<div>", { class: "dimensioner-preview" }).appendTo(cell);
  const refresh = () => {
    place.toggle(mayBeTrue(form.value("preview")));
    if (mayBeTrue(form.value("preview"))) {
      showLast(place, id, watch);
    }
  };
  const listener = (changed: string) => {
    if (!document.contains(place[0] ?? null)) {
      // The dialog was closed.
      watch.listeners.delete(listener);
    } else if (changed === id) {
      refresh();
    }
  };
  watch.listeners.add(listener);
  form.follow(["preview"], refresh);
}

/** A badge above each node that has an image; a click opens it. Only in Node-RED 5 can a badge open a popover. */
export function previewBadge(watch: PreviewWatch): void {
  if (Number.parseInt(String(Reflect.get(RED.settings, "version")), 10) < 5) {
    return;
  }
  watch.listeners.add((id) => {
    const node: unknown = RED.nodes.node(id);
    if (isRecord(node)) {
      node["dirty"] = true;
      RED.view.redraw();
    }
  });
  RED.view.annotations.register("dimensioner-preview", {
    type: "badge",
    class: "dimensioner-preview-badge",
    filter: (node) => node.type === watch.type,
    show: (node) => watch.heard.has(node.id),
    element: badge,
    tooltip: () => watch.texts.last(),
    popover: {
      direction: "top",
      maxWidth: 360,
      content: (node) => {
        const place = $("<div>", { class: "dimensioner-preview dimensioner-preview-popover" });
        showLast(place, node.id, watch);
        return place;
      },
    },
  });
}

/** The icon of an image. */
function badge(): SVGElement {
  const draw = (name: string, attributes: Readonly<Record<string, string>>): SVGElement => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    return element;
  };
  const group = draw("g", {});
  group.append(
    draw("rect", { x: "0", y: "0", width: "13", height: "10", rx: "1.5" }),
    draw("path", { d: "M 1.5 8.5 l 3 -4 2.5 3 1.5 -1.5 3 2.5" }),
  );
  return group;
}

function showLast(place: JQuery, id: string, watch: PreviewWatch): void {
  const { texts, heard } = watch;
  const last = heard.get(id);
  const say = (sentence: string) => {
    place.empty().append($("<div>", { class: "dimensioner-note" }).text(sentence));
  };
  if (last === undefined) {
    say(texts.none());
  } else if (last.isKept) {
    void fetchLast(watch, id).then((content) => {
      // Unless a later image has arrived meanwhile.
      if (heard.get(id) === last) {
        if (content === undefined) {
          say(texts.none());
        } else {
          show(place, content, texts.last());
        }
      }
      return place;
    });
  } else {
    const megabytes = new Intl.NumberFormat(RED.i18n.lang(), { maximumFractionDigits: 1 });
    say(texts.large(`${megabytes.format(last.bytes / 1_000_000)} MB`));
  }
}

function show(place: JQuery, content: Blob, alt: string): void {
  const url = URL.createObjectURL(content);
  const image = $("<img>", { alt, src: url });
  image.on("load error", () => URL.revokeObjectURL(url));
  place.empty().append(image);
}

/**
 * Fetches the image with the editor's login, which the address of an `<img>` would not carry. Undefined if there is
 * none.
 */
function fetchLast({ type }: PreviewWatch, id: string): Promise<Blob | undefined> {
  const path = `${type}/${encodeURIComponent(id)}/preview`;
  return new Promise((resolve) => {
    $.ajax(path, { xhrFields: { responseType: "blob" } }).then(
      (content: unknown) => resolve(content instanceof Blob && content.size > 0 ? content : undefined),
      () => resolve(undefined),
    );
  });
}
