import * as v from "valibot";

import { copyButton, type Control } from "./control.ts";
import { bindInput, bindSwitch, byId, choose, setText } from "./dom.ts";
import { createReadout } from "./readout.ts";
import { createScreen } from "./screen.ts";
import type { Generation, Newer, State } from "./shapes.ts";
import { replies } from "./words.ts";

const buttonNames = ["measure", "start", "stop", "cancel"] as const;
type Button = (typeof buttonNames)[number];

const reply = v.object({ did: v.string() });

/** Why a button has no effect at the moment; "" if it has one. */
function whyNot(button: Button, { powered, mode, recording, encodingEndsAt, savedVideo }: Newer): string {
  if (!powered) {
    return "The device is switched off.";
  }
  if (button === "measure") {
    return mode === "video-only" ? "Video Only never measures." : "";
  }
  if (mode !== "video-only" && mode !== "video-with-measurement") {
    return "This mode records no video.";
  }
  if (button === "start") {
    return recording === null ? "" : "It is recording already.";
  }
  if (button === "cancel") {
    const nothing = recording === null && encodingEndsAt === null && savedVideo === null;
    return nothing ? "There is nothing to cancel." : "";
  }
  if (mode !== "video-only") {
    return "In Video with Measurement, a measurement ends the recording.";
  }
  return recording === null ? "Nothing is being recorded." : "";
}

/** Creates the panel of the device: its screen, buttons, scanner and switches. */
export function createDevice(control: Control, shown: () => Generation): (state: State) => void {
  const screen = createScreen();
  const readout = createReadout();
  const title = byId("device-title", HTMLElement);
  const address = copyButton("device-address", control);
  const buttons = buttonNames.map((name) => ({ name, element: byId(`press-${name}`, HTMLButtonElement) }));
  const scanForm = byId("scan-form", HTMLFormElement);
  const barcode = byId("barcode", HTMLInputElement);
  const label = byId("scan-label", HTMLButtonElement);
  const modes = byId("modes", HTMLElement);
  const showMode = bindInput(
    modes,
    (mode: string) => choose(modes, mode),
    ({ value }) => control.post("mode", { mode: value }),
  );
  const showPower = bindSwitch("power", (on) => control.post("power", { on }));
  const showLocalApi = bindSwitch("local-api", (on) => control.post("local-api", { on }));
  const showLegalForTrade = bindSwitch("legal-for-trade", (on) => control.post("legal-for-trade", { on }));
  let current: State | undefined;

  function sayReply(answer: unknown): void {
    const did = v.safeParse(reply, answer);
    const words = did.success ? replies.get(did.output.did) : undefined;
    if (words !== undefined) {
      control.say(words);
    }
  }

  async function press(name: Button): Promise<void> {
    if (current === undefined) {
      return;
    }
    const reason = shown() === "newer" ? whyNot(name, current.newer) : "";
    if (reason !== "") {
      control.say(reason);
    } else {
      sayReply(await control.post("press", { device: shown(), button: name }));
    }
  }

  async function scan(text: string): Promise<void> {
    sayReply(await control.post("scan", { barcode: text }));
  }

  buttons.forEach(({ name, element }) => element.addEventListener("click", () => void press(name)));
  scanForm.addEventListener("submit", (event) => {
    event.preventDefault();
    void scan(barcode.value);
    // The text is selected, so that the next scan replaces it.
    barcode.select();
  });
  scanForm.addEventListener("click", ({ target }) => {
    const text = target instanceof HTMLElement ? target.dataset["scan"] : undefined;
    if (text !== undefined) {
      void scan(text);
    }
  });
  label.addEventListener("click", () => {
    const text = current?.newer.parcel?.barcode ?? "";
    if (text === "") {
      control.say("The parcel has no barcode.");
    } else {
      void scan(text);
    }
  });

  return (state) => {
    current = state;
    const generation = shown();
    const { newer, earlier } = state;
    setText(title, generation === "newer" ? "Newer device" : "Earlier device");
    address(state[generation].origin);
    for (const element of document.querySelectorAll<HTMLElement>(
      "[data-newer], [data-earlier], [data-video]",
    )) {
      element.hidden = "earlier" in element.dataset === (generation === "newer");
    }
    for (const { name, element } of buttons) {
      const reason = generation === "newer" ? whyNot(name, newer) : "";
      element.setAttribute("aria-disabled", String(reason !== ""));
      element.title = reason;
    }
    showMode(newer.mode);
    showPower(newer.powered);
    showLocalApi(newer.localApi);
    showLegalForTrade(earlier.legalForTrade);
    screen(state, generation);
    readout(state, generation);
  };
}
