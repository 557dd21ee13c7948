import { EventEmitter, on } from "node:events";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { longestWaitMs } from "../support/browser.ts";
import type { NodeRed } from "../support/node-red.ts";

/** What a station's page shows at one moment. */
export interface Shown {
  readonly phase: string;
  /** The parcel that is being packed, or the last one. */
  readonly reference: string;
  /** The parcels of the shift. */
  readonly count: string;
  /** Whether the page says that it does not know if the device still records. */
  readonly doubt: boolean;
  /** Milliseconds since Enter was pressed last. */
  readonly sinceEnterMs: number;
}

type ContextOptions = NonNullable<Parameters<Browser["newContext"]>[0]>;

/** Runs in the page: reports what it shows whenever that changes, and the sounds that it plays. */
const observer = `(() => {
  let enteredAt = 0;
  let last = "";
  addEventListener("keydown", ({ key }) => { if (key === "Enter") { enteredAt = performance.now(); } }, true);
  const text = (part) => document.querySelector('[data-test="' + part + '"]')?.textContent ?? "";
  const look = () => {
    const lamp = document.querySelector('[data-test="phase"]');
    if (lamp === null) { return; }
    const shown = { phase: lamp.dataset.phase, doubt: lamp.dataset.doubt === "true", reference: text("reference"), count: text("count") };
    const now = JSON.stringify(shown);
    if (now !== last) {
      last = now;
      window.reportShown({ ...shown, sinceEnterMs: performance.now() - enteredAt });
    }
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ["data-phase", "data-doubt"] });
  window.tones = [];
  const { createOscillator } = AudioContext.prototype;
  AudioContext.prototype.createOscillator = function () {
    const source = createOscillator.call(this);
    const { start } = source;
    source.start = function (...when) { window.tones.push(source.type + " " + source.frequency.value); start.apply(source, when); };
    return source;
  };
})()`;

/** Resolves in the page when the parcel's picture is drawn. */
export const pictureIsDrawn = `document.querySelector('[data-test="picture"]')?.decode().then(() => true, () => false)`;

/** A page of a dashboard, as somebody with a scanner that types like a keyboard uses it. */
export class StationPage {
  readonly page: Page;
  /** Page errors, and what the browser's console calls an error. */
  readonly problems: string[] = [];
  /** The stations of which Node-RED has told this page. */
  readonly heardOf = new Set<string>();
  readonly #frames = new EventEmitter<{ frame: [text: string] }>();

  private constructor(page: Page) {
    this.page = page;
    page.setDefaultTimeout(longestWaitMs);
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        const text = String(payload);
        for (const [, station = ""] of text.matchAll(/"station":"([^"]+)"/g)) {
          this.heardOf.add(station);
        }
        this.#frames.emit("frame", text);
      }),
    );
    page.on("pageerror", (error) => this.problems.push(`page error: ${error.stack ?? error.message}`));
    page.on("console", (message) => {
      // A deploy takes away for a moment what answers with pictures. Whether they are there is tested by itself.
      const isPicture = /\/station\/(?:picture|evidence)\//.test(message.location().url);
      if (message.type() === "error" && !isPicture) {
        this.problems.push(`console: ${message.text()}`);
      }
    });
  }

  /** Opens the page of a station; `watch` is told whatever it shows from then on, also after a reload. */
  static async open(
    browser: Browser,
    nodeRed: NodeRed,
    station: string,
    watch: (shown: Shown) => void = () => undefined,
  ): Promise<StationPage> {
    const opened = await StationPage.openPath(browser, nodeRed, `packing?station=${station}`, watch);
    await opened.shows("phase");
    return opened;
  }

  /** Opens any page of the dashboard. */
  static async openPath(
    browser: Browser,
    nodeRed: NodeRed,
    path: string,
    watch: (shown: Shown) => void = () => undefined,
    options: ContextOptions = {},
  ): Promise<StationPage> {
    const context = await browser.newContext({ reducedMotion: "reduce", ...options });
    await context.exposeFunction("reportShown", watch);
    await context.addInitScript(observer);
    const opened = new StationPage(await context.newPage());
    await opened.page.goto(`${nodeRed.url}/dashboard/${path}`);
    return opened;
  }

  /** Types with 5 ms between the keys and ends with Enter. */
  async scan(code: string): Promise<void> {
    await this.page.keyboard.type(code, { delay: 5 });
    await this.page.keyboard.press("Enter");
  }

  async press(button: string): Promise<void> {
    await this.page.locator(`[data-test="${button}"]`).click();
  }

  /** Waits until a part of the page is there, with this text if one is given. */
  async shows(part: string, text: string | RegExp = ""): Promise<void> {
    await this.page.locator(`[data-test="${part}"]`, { hasText: text }).first().waitFor();
  }

  /** Waits until Node-RED tells the page this from now on, even if the page shows it for a moment only. */
  async isTold(text: string): Promise<void> {
    for await (const [frame] of on(this.#frames, "frame")) {
      if (String(frame).includes(text)) {
        return;
      }
    }
  }

  /** Waits until the lamp shows one of these phases, and returns which. */
  async phase(...phases: readonly string[]): Promise<string> {
    const lamp = this.page.locator(
      phases.map((phase) => `[data-test="phase"][data-phase="${phase}"]`).join(", "),
    );
    await lamp.waitFor();
    return (await lamp.getAttribute("data-phase")) ?? "";
  }

  /** From the first scan to the result; a script runs before each scan, such as one that takes the focus away. */
  async pack(code: string, before = ""): Promise<void> {
    await this.page.evaluate(before);
    await this.scan(code);
    await this.phase("recording");
    await this.page.evaluate(before);
    await this.scan(code);
    await this.phase("measured");
  }

  /**
   * Waits until one of these is shown; false if the page says instead that Node-RED has not confirmed what was scanned or
   * pressed, which it does after some seconds: a busy computer can need them for a deploy.
   */
  async confirms(selector: string): Promise<boolean> {
    const unconfirmed = '[data-test="notice"]:has-text("has not confirmed")';
    await this.page.locator(`${selector}, ${unconfirmed}`).first().waitFor();
    return !(await this.page.locator(unconfirmed).isVisible());
  }

  /** Sends a message from a node as any program can that has a connection to the dashboard, whatever the page would send. */
  async emit(node: string, message: object): Promise<void> {
    const args = [node, message].map((one) => JSON.stringify(one)).join(", ");
    await this.page.evaluate(
      `document.querySelector("#app").__vue_app__._context.provides.$socket.emit("widget-send", ${args})`,
    );
  }

  async text(part: string): Promise<string> {
    return this.page.locator(`[data-test="${part}"]`).innerText();
  }

  /** What axe-core calls a fault, and targets that are smaller than 48 pixels. */
  async faults(size: { readonly width: number; readonly height: number }, colorScheme: "light" | "dark") {
    await this.page.setViewportSize(size);
    await this.page.emulateMedia({ colorScheme });
    // A color that still changes is neither of the two.
    await this.page.waitForFunction(`document.getAnimations().every((one) => one.playState !== "running")`);
    await this.page.evaluate(axe.source);
    return this.page.evaluate<string[]>(`(async () => {
      const { violations } = await axe.run(".dimensioner-page");
      const small = [...document.querySelectorAll(".dimensioner :is(button, a, input)")]
        .filter((one) => one.getBoundingClientRect().height < 48).map((one) => "small: " + one.outerHTML);
      const wide = document.documentElement.scrollWidth > innerWidth ? ["wider than the screen"] : [];
      return [...small, ...wide, ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html.slice(0, 160)))];
    })()`);
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
