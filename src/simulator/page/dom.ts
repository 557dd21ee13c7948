/** Returns the element with this id, and checks its type. */
export function byId<T extends Element>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) {
    throw new Error(`#${id} is missing`);
  }
  return found;
}

/** The first element inside another that fits a selector. */
export function within<T extends Element>(parent: ParentNode, selector: string, type: new () => T): T {
  const found = parent.querySelector(selector);
  if (!(found instanceof type)) {
    throw new Error(`${selector} is missing`);
  }
  return found;
}

/** A new element from one of the page's templates. */
export function fromTemplate(id: string): HTMLElement {
  const copy = document.importNode(byId(id, HTMLTemplateElement).content, true);
  return within(copy, "*", HTMLElement);
}

/** Sets a text only if it differs, so that selections and screen readers are not disturbed. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** Hides the element if the text is blank. */
export function setTextOrHide(element: HTMLElement, text: string): void {
  setText(element, text);
  element.hidden = text === "";
}

export function setSource(element: HTMLImageElement | HTMLVideoElement, url: string): void {
  if (element.getAttribute("src") === url) {
    return;
  }
  if (url !== "") {
    element.setAttribute("src", url);
  } else {
    element.removeAttribute("src");
    if (element instanceof HTMLVideoElement) {
      element.load();
    }
  }
}

/** The value of the selected radio button of a group. */
export function onChoice(group: HTMLElement, chosen: (value: string) => void): void {
  group.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement) {
      chosen(target.value);
    }
  });
}

export function choose(group: HTMLElement, value: string): void {
  for (const input of group.querySelectorAll("input")) {
    input.checked = input.value === value;
  }
}

/**
 * Keeps a switch or a group of choices equal to the state, except while a change by the user is being sent: an older
 * state would undo it for a moment.
 */
export function bindInput<T>(
  element: HTMLElement,
  show: (value: T) => void,
  send: (input: HTMLInputElement) => Promise<unknown>,
): (value: T) => void {
  let sending = 0;
  element.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) {
      return;
    }
    sending += 1;
    void send(target).finally(() => (sending -= 1));
  });
  return (value) => {
    if (sending === 0) {
      show(value);
    }
  };
}

/** Binds a switch to a part of the simulator's state. */
export function bindSwitch(id: string, send: (on: boolean) => Promise<unknown>): (on: boolean) => void {
  const input = byId(id, HTMLInputElement);
  return bindInput(
    input,
    (on: boolean) => (input.checked = on),
    () => send(input.checked),
  );
}

interface Row<T> {
  readonly element: HTMLElement;
  show(item: T): void;
}

/** Keeps one row for each item of a list, in its order; the row of an item that stays is reused. */
export function keyedList<T>(
  list: HTMLElement,
  keyOf: (item: T) => string,
  make: (item: T) => Row<T>,
): (items: readonly T[]) => void {
  const rows = new Map<string, { readonly row: Row<T>; shown: T }>();
  return (items) => {
    const wanted = new Set(items.map(keyOf));
    for (const [key, { row }] of rows) {
      if (wanted.has(key)) {
        continue;
      }
      row.element.remove();
      rows.delete(key);
    }
    let place = list.firstElementChild;
    for (const item of items) {
      const key = keyOf(item);
      const known = rows.get(key);
      const entry = known ?? { row: make(item), shown: item };
      if (known === undefined) {
        rows.set(key, entry);
      }
      if (known?.shown !== item) {
        entry.row.show(item);
      }
      entry.shown = item;
      if (entry.row.element === place) {
        place = place.nextElementSibling;
      } else {
        list.insertBefore(entry.row.element, place);
      }
    }
  };
}

/** Calls a function at most once per frame, however often it is requested. */
export function oncePerFrame(act: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) {
      return;
    }
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      act();
    });
  };
}
