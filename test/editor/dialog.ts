import type { Locator, Page } from "playwright-core";

/** Drags a type from the palette onto the canvas, as a person does, and returns the new node's id. */
export async function dragFromPalette(page: Page, type: string, x: number, y: number): Promise<string> {
  const before = await page.evaluate<string[]>(nodeIds);
  const source = page.locator(`[data-palette-type="${type}"]`);
  // Hovering scrolls to it and waits until it stands still.
  await source.hover();
  const from = await source.boundingBox();
  const canvas = await page.locator("#red-ui-workspace-chart").boundingBox();
  if (from === null || canvas === null) {
    throw new Error(`the palette does not show ${type}`);
  }
  await page.mouse.down();
  // In one step after a short one that begins the drag: on its way, a slow editor would put the node into a wire.
  await page.mouse.move(from.x + from.width / 2 + 10, from.y + from.height / 2);
  await page.mouse.move(canvas.x + x, canvas.y + y);
  await page.mouse.up();
  const added = `${nodeIds}.find((id) => !${JSON.stringify(before)}.includes(id))`;
  await page.waitForFunction(added);
  return page.evaluate<string>(added);
}

const nodeIds = `(() => { const ids = []; RED.nodes.eachNode((node) => ids.push(node.id)); return ids; })()`;

/** Longest time between the clicks of a double click on a node, in the editor. */
const doubleClickMs = 650;

/** Opens the dialog of a node on the canvas, by keyboard: the editor can take a double click for two single ones. */
export async function openDialog(page: Page, id: string, content?: string): Promise<void> {
  // Until then the editor would take the click, after one that has opened the same node, for a double click.
  await page.waitForFunction(
    `window.dimensionerClick?.id !== "${id}" || Date.now() - window.dimensionerClick.at > ${doubleClickMs}`,
  );
  await page.locator(`[id="${id}"] .red-ui-flow-node`).first().click();
  await page.evaluate(`window.dimensionerClick = { id: "${id}", at: Date.now() }`);
  await page.keyboard.press("Enter");
  await opened(page, "#dialog-form", content);
}

/** Opens the dialog of a config node. */
export async function openConfigDialog(page: Page, id: string): Promise<void> {
  await page.evaluate(`RED.editor.editConfig("", RED.nodes.node("${id}").type, "${id}")`);
  await opened(page, "#node-config-dialog-edit-form");
}

/** Waits until the dialog has slid in and the editor has put the focus into it: a click before that goes astray. */
export async function opened(page: Page, form: string, content = ".dimensioner-form"): Promise<void> {
  await page.locator(`${form} ${content}`).first().waitFor();
  await page.waitForFunction(`(() => {
    const tray = document.querySelector("${form}").closest(".red-ui-tray");
    return getComputedStyle(tray).right === "0px" && tray.contains(document.activeElement);
  })()`);
}

export async function closeDialog(
  page: Page,
  button: "ok" | "cancel",
  kind: "node" | "config" = "node",
): Promise<void> {
  const id = kind === "node" ? `#node-dialog-${button}` : `#node-config-dialog-${button}`;
  await page.locator(id).click();
  await page.locator(id).waitFor({ state: "detached" });
}

/** What to do with a field: text, a choice, a tick, or a typed value. */
export type Entry = string | boolean | { choose: string } | { type: string; value: string };

export async function fill(
  page: Page,
  property: string,
  entry: Entry,
  prefix = "#node-input-",
): Promise<void> {
  const field = prefix + property;
  const fold = page.locator(`details:not([open]):has(${field}) > summary`);
  if ((await fold.count()) > 0) {
    await fold.press("Enter");
  }
  if (typeof entry === "boolean") {
    await page.locator(field).setChecked(entry);
  } else if (typeof entry === "string") {
    const inner = page.locator(`${field}-value`);
    await type((await inner.count()) > 0 ? inner : page.locator(field), entry);
  } else if ("choose" in entry) {
    await page.locator(field).selectOption(entry.choose);
  } else {
    const widget = page.locator(`${field} + .red-ui-typedInput-container`);
    await widget.locator(".red-ui-typedInput-type-select").click();
    await page.locator(`.red-ui-typedInput-options:visible a[value="${entry.type}"]`).click();
    await type(page.locator(`${field}-value`), entry.value);
  }
}

/** Ends with a key, on which the editor checks, and leaves the field: its suggestions would lie over the next one. */
async function type(input: Locator, text: string): Promise<void> {
  await input.fill(text);
  await input.press("End");
  await input.blur();
}

/** The properties that would be exported, and the number of outputs. */
export function savedProperties(page: Page, id: string): Promise<Record<string, unknown>> {
  return page.evaluate<Record<string, unknown>>(
    `(() => { const node = RED.nodes.node("${id}");
      return Object.fromEntries(Object.keys(node._def.defaults).map((key) => [key, node[key]])); })()`,
  );
}

/** What the fields of the open dialog hold, by saved property; the version has none. */
export function shownProperties(page: Page, id: string): Promise<Record<string, unknown>> {
  return page.evaluate<Record<string, unknown>>(
    `(() => { const keys = Object.keys(RED.nodes.node("${id}")._def.defaults).filter((key) => key !== "version");
      const shown = (input) => (input.attr("type") === "checkbox" ? input.prop("checked") : input.val());
      return Object.fromEntries(keys.map((key) => [key, shown($("#node-input-" + key))])); })()`,
  );
}

/** What stands below a field as wrong; "" when nothing does. */
export async function problemOf(page: Page, property: string, prefix = "#node-input-"): Promise<string> {
  const line = page.locator(`${prefix}${property}-problem`);
  return (await line.count()) > 0 && (await line.isVisible()) ? ((await line.textContent()) ?? "") : "";
}

/** Faults of the open dialog that a person would see, or that a screen reader would read out. */
export function faultsOfDialog(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const form = [...document.querySelectorAll(".dimensioner-form")].pop();
    const visible = (element) => element.getClientRects().length > 0;
    const faults = [];
    const limit = form.getBoundingClientRect();
    for (const element of form.querySelectorAll("*")) {
      const box = element.getBoundingClientRect();
      if (visible(element) && (box.right > limit.right + 1 || box.left < limit.left - 1)) {
        faults.push("cut off: " + element.outerHTML.slice(0, 120));
      }
    }
    for (const text of form.querySelectorAll("label, .dimensioner-note, .dimensioner-problem, .dimensioner-answer, .form-tips")) {
      if (visible(text) && text.scrollWidth > text.clientWidth + 1) {
        faults.push("text wider than its place: " + text.textContent.slice(0, 120));
      }
    }
    for (const control of form.querySelectorAll("input, select, textarea, button, a, [role=button]")) {
      if (!visible(control)) { continue; }
      const label = [...(control.labels ?? [])].map((one) => one.textContent.trim()).join("");
      const name = control.getAttribute("aria-label") || label || control.title || control.textContent.trim();
      if (name === "") { faults.push("no name: " + control.outerHTML.slice(0, 120)); }
      if (control.tabIndex < 0 && !control.classList.contains("disabled")) {
        faults.push("no keyboard: " + control.outerHTML.slice(0, 120));
      }
    }
    for (const text of form.innerText.split("\\n").concat([...form.querySelectorAll("[placeholder]")].map((one) => one.placeholder))) {
      // A key that has no text is shown as it is, alone.
      if (/^[^ ]*[a-z]+\\.[a-z]+[A-Za-z.]*$/.test(text.trim()) && !/\\bmsg\\.|MSG\\./i.test(text) && !/\\d/.test(text)) {
        faults.push("a key instead of a text: " + text);
      }
    }
    return faults;
  })()`);
}
