import assert from "node:assert/strict";
import { longestWaitMs } from "../support/browser.ts";
import type { RunningBrowser } from "./known-browsers.ts";

/** Somebody who sees what a browser shows, and has a mouse and a keyboard. */
export class Visitor {
  readonly #browser: RunningBrowser;

  constructor(browser: RunningBrowser) {
    this.#browser = browser;
  }

  /** Waits until an expression is true in the page, and returns its value. */
  async until(expression: string): Promise<unknown> {
    const end = Date.now() + longestWaitMs;
    let problem: unknown;
    while (Date.now() < end) {
      try {
        const value = await this.#browser.evaluate(`new Promise((resolve) => {
          const value = ${expression};
          value ? resolve(value) : setTimeout(resolve, 30);
        })`);
        if (value) {
          return value;
        }
      } catch (error) {
        // The page goes away for another one.
        problem = error;
      }
    }
    const text = await this.#browser.evaluate("document.body.innerText.slice(0, 2_000)");
    const said = (await this.#browser.takeProblems()).join("\n");
    return assert.fail(
      `${expression} was not true. ${String(problem)}\n${said}\nThe page shows:\n${String(text)}`,
    );
  }

  /** Waits until an element is shown that has this text. */
  async sees(selector: string, text = ""): Promise<void> {
    await this.until(`${shown(selector, text)} !== undefined`);
  }

  async seesNo(selector: string): Promise<void> {
    await this.until(`${shown(selector, "")} === undefined`);
  }

  async click(selector: string): Promise<void> {
    await this.#browser.move([await this.#middleOf(selector), "down", "up"]);
  }

  /** Drags an element to a place on another one, after a short step that begins it. */
  async drag(selector: string, onto: string, at: { readonly x: number; readonly y: number }): Promise<void> {
    const from = await this.#middleOf(selector);
    const corner = `document.querySelector(${JSON.stringify(onto)}).getBoundingClientRect().toJSON()`;
    const { x, y } = (await this.#browser.evaluate(corner)) as DOMRect;
    await this.#browser.move([from, "down", { ...from, x: from.x + 10 }, { x: x + at.x, y: y + at.y }, "up"]);
  }

  async press(...strokes: readonly string[]): Promise<void> {
    await this.#browser.press(strokes);
  }

  /** Types with Enter at the end, as a scanner does. */
  async enter(text: string): Promise<void> {
    await this.press(...text, "Enter");
  }

  /** Writes into a field, over what stands there. */
  async write(selector: string, text: string): Promise<void> {
    await this.click(selector);
    await this.press("ControlOrMeta+a", ...text);
  }

  /** Scrolls to an element, and waits until it stands still and nothing lies over it. */
  async #middleOf(selector: string): Promise<{ readonly x: number; readonly y: number }> {
    const middle = await this.until(`((one) => {
      one?.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
      const middle = () => {
        const { left, top, width, height } = one.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
      };
      const before = one && middle();
      return one && new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
        const { x, y } = middle();
        const isFree = one.contains(document.elementFromPoint(x, y));
        resolve(isFree && x === before.x && y === before.y ? before : undefined);
      })));
    })(${shown(selector, "")})`);
    return middle as { readonly x: number; readonly y: number };
  }
}

/** An expression for the first element that is shown and has this text. */
function shown(selector: string, text: string): string {
  return `[...document.querySelectorAll(${JSON.stringify(selector)})].find((one) =>
    one.checkVisibility({ visibilityProperty: true }) &&
    one.textContent.replace(/\\s+/g, " ").includes(${JSON.stringify(text)}))`;
}
