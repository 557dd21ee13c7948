import { copyButton, type Control } from "./control.ts";
import { bindSwitch, byId, setSource, setText } from "./dom.ts";
import type { Generation, State, TableParcel } from "./shapes.ts";
import type { View } from "./viewer.ts";
import { clock, visible } from "./words.ts";

const repeated = 3;
const chunk = 4;

function counted(connections: number): string {
  return connections === 1 ? "1 connection" : `${connections} connections`;
}

function lastSent({ last }: State["scanner"]): string {
  if (last === null) {
    return "Nothing sent yet.";
  }
  const to = last.receivers === 0 ? "and lost: nothing was connected" : `to ${counted(last.receivers)}`;
  return `${visible(last.text)} sent at ${clock(last.at)} ${to}`;
}

/** A custom parcel has no picture of its label. */
function labelOf(parcel: TableParcel | null): string {
  const name = parcel?.name ?? "";
  return name === "" ? "" : `catalogue/${name}/label`;
}

/**
 * Creates the panel of the scanner at the packing table: the label in front of it, its trigger, its settings, and what
 * it has sent.
 */
export function createScanner(control: Control, view: View, shown: () => Generation): (state: State) => void {
  const address = copyButton("scanner-address", control);
  const links = byId("scanner-links", HTMLElement);
  const label = byId("label", HTMLButtonElement);
  const image = byId("label-image", HTMLImageElement);
  const form = byId("scanner-form", HTMLFormElement);
  const code = byId("scanner-code", HTMLInputElement);
  const sent = byId("scanner-sent", HTMLElement);
  const set = (settings: object) => control.post("scanner", settings);
  const scan = (command: object) => void control.post("scanner/scan", { device: shown(), ...command });
  const showPower = bindSwitch("scanner-on", (on) => set({ on }));
  const showAim = bindSwitch("scanner-aim", (aim) => set({ aim }));
  const showRepeats = bindSwitch("scanner-repeats", (on) => set({ repeats: on ? repeated : 1 }));
  const showChunks = bindSwitch("scanner-chunks", (on) => set({ chunkBytes: on ? chunk : 0 }));
  let current = "";

  const onClick = (id: string, act: () => void): void =>
    byId(id, HTMLButtonElement).addEventListener("click", act);
  onClick("scanner-label", () => scan({}));
  onClick("scanner-matrix", () => scan({ symbology: "gs1-datamatrix" }));
  onClick("scanner-nothing", () => scan({ noRead: true }));
  label.addEventListener("click", () => view(current, "image", "The label of the parcel"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    scan({ code: code.value });
    code.select();
  });

  return (state) => {
    const { scanner } = state;
    const { settings } = scanner;
    current = labelOf(state[shown()].parcel);
    label.hidden = current === "";
    setSource(image, current);
    address(`${scanner.host}:${scanner.port}`);
    setText(links, counted(scanner.connections));
    setText(sent, lastSent(scanner));
    showPower(scanner.on);
    showAim(settings.aim);
    showRepeats(settings.repeats > 1);
    showChunks(settings.chunkBytes > 0);
  };
}
