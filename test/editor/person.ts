import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import type { OpenEditor } from "./open-editors.ts";
import { closeDialog, dragFromPalette, openDialog, opened } from "./dialog.ts";
import { deploy, wire } from "./wires.ts";

/** How much somebody has done: with their hands, and what has become of it. */
export interface Effort {
  readonly nodes: number;
  readonly wires: number;
  readonly dialogs: number;
  readonly fields: number;
  readonly clicks: number;
  readonly keys: number;
}

/** Somebody who builds a flow in the editor, with the mouse and the keyboard and nothing else. */
export class Person {
  readonly #editor: OpenEditor;
  readonly #page: Page;
  readonly #done = { nodes: 0, wires: 0, dialogs: 0, fields: 0 };

  constructor(editor: OpenEditor) {
    this.#editor = editor;
    this.#page = editor.page;
  }

  /** Counts what the browser gets from the mouse and the keyboard from now on, and not what a script does. */
  async begin(): Promise<void> {
    await this.#page.evaluate(`(() => {
      const count = window.dimensionerEffort = { clicks: 0, keys: 0 };
      // In the document: what Playwright holds back at the window, and repeats, does not come here.
      document.addEventListener("mousedown", ({ isTrusted }) => { count.clicks += isTrusted ? 1 : 0; }, true);
      addEventListener("keydown", ({ isTrusted }) => { count.keys += isTrusted ? 1 : 0; }, true);
    })()`);
  }

  async effort(): Promise<Effort> {
    const hands = await this.#page.evaluate<Pick<Effort, "clicks" | "keys">>("window.dimensionerEffort");
    return { ...this.#done, ...hands };
  }

  /** Drags a node from the palette, wires it to another one, and fills in its dialog where there is something to fill in. */
  async add(
    type: string,
    { x, y, behind, fill }: { x: number; y: number; behind?: string; fill?: () => Promise<void> },
  ): Promise<string> {
    await this.#scrollBack();
    const id = await dragFromPalette(this.#page, type, x, y);
    this.#done.nodes += 1;
    if (behind !== undefined) {
      await wire(this.#page, behind, id);
      this.#done.wires += 1;
    }
    if (fill !== undefined) {
      this.#done.dialogs += 1;
      await openDialog(this.#page, id, type.startsWith("dimensioner-") ? undefined : ".form-row");
      await fill();
      await closeDialog(this.#page, "ok");
    }
    return id;
  }

  /** In the open dialog of a node: adds the config node of this field, and fills in its dialog. */
  async addConfig(field: string, fill: () => Promise<void>): Promise<void> {
    const page = this.#page;
    this.#done.dialogs += 1;
    await page.locator(`#node-input-btn-${field}-add, #node-input-lookup-${field}-add`).first().click();
    await opened(page, "#node-config-dialog-edit-form");
    await fill();
    await closeDialog(page, "ok", "config");
    // The editor fills in the new config node a moment after its dialog has closed.
    await page.waitForFunction(`!["", "_ADD_"].includes($("#node-input-${field}").val())`);
  }

  /** Writes into a field of the open dialog, over what stands there. */
  async write(property: string, text: string, dialog: "node-input" | "node-config-input"): Promise<void> {
    const typed = this.#page.locator(`#${dialog}-${property}-value`);
    await this.#type((await typed.count()) > 0 ? typed : this.#page.locator(`#${dialog}-${property}`), text);
  }

  /** Chooses from a list with the arrow keys, once a click on its label has put the focus there. */
  async choose(property: string, value: string, dialog: "node-input" | "node-config-input"): Promise<void> {
    const list = this.#page.locator(`#${dialog}-${property}`);
    this.#done.fields += 1;
    const fold = this.#page.locator(`details:not([open]):has(#${dialog}-${property}) > summary`);
    if ((await fold.count()) > 0) {
      await fold.click();
    }
    await this.#page.locator(`label[for="${dialog}-${property}"]`).click();
    const count = await list.locator("option").count();
    for (let step = 0; step < count && (await list.inputValue()) !== value; step += 1) {
      await this.#page.keyboard.press("ArrowDown");
    }
    assert.equal(await list.inputValue(), value);
  }

  /** In the open dialog of an inject node: its payload becomes a text, such as the barcode of a parcel. */
  async writePayload(text: string): Promise<void> {
    const page = this.#page;
    const value = page.locator(".node-input-prop-property-value + .red-ui-typedInput-container").first();
    await value.locator(".red-ui-typedInput-type-select").click();
    await page.locator('.red-ui-typedInput-options:visible a[value="str"]').click();
    await this.#type(value.locator(".red-ui-typedInput-input"), text);
  }

  async deploy(): Promise<void> {
    await deploy(this.#editor);
  }

  /** Presses the button of an inject node, and waits until another node shows this as its status. */
  async press(inject: string, { node, shows }: { node: string; shows: RegExp }): Promise<void> {
    const page = this.#page;
    await this.#scrollBack();
    await page.locator(`[id="${inject}"] .red-ui-flow-node-button-button`).click();
    const isShown = `${String(shows)}.test(RED.nodes.node("${node}").status?.text ?? "")`;
    await page.waitForFunction(isShown);
  }

  /** With the wheel: where the editor has moved the canvas, nodes are elsewhere, and the button of one may be below the palette. */
  async #scrollBack(): Promise<void> {
    const page = this.#page;
    const canvas = await page.locator("#red-ui-workspace-chart").boundingBox();
    assert.ok(canvas);
    await page.mouse.move(canvas.x + canvas.width / 2, canvas.y + canvas.height / 2);
    await page.mouse.wheel(-5_000, -5_000);
    await page.waitForFunction(
      '$("#red-ui-workspace-chart").scrollLeft() === 0 && $("#red-ui-workspace-chart").scrollTop() === 0',
    );
  }

  async #type(field: Locator, text: string): Promise<void> {
    const { keyboard } = this.#page;
    this.#done.fields += 1;
    await field.click();
    await keyboard.press("ControlOrMeta+a");
    await keyboard.type(text);
    // Leaves the field: its suggestions would lie over the next one.
    await keyboard.press("Tab");
  }
}
