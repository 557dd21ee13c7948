import type { Control } from "./control.ts";
import { byId, fromTemplate, keyedList, setText, within } from "./dom.ts";
import { presets, type Preset } from "./fault-presets.ts";
import type { ListedFault, State } from "./shapes.ts";

/** Which requests the fault applies to. */
function what({ method, path }: ListedFault): string {
  return [method ?? "", path ?? ""].join(" ").trim() || "any request";
}

/** `newer: next 3` */
function progress({ surface: on, fault, times, applied }: ListedFault): string {
  const place = on ?? "everywhere";
  if (fault.kind === "refuse") {
    return `${place}: now`;
  }
  if (times === 0) {
    return `${place}: ${applied === 1 ? "once" : `${applied} times`} so far`;
  }
  return `${place}: next ${times - applied === 1 ? "request" : times - applied}`;
}

interface PresetButton {
  readonly preset: Preset;
  show(inForce: readonly ListedFault[]): void;
}

/** Creates the panel of faults: a list of presets, and the other active faults. */
export function createFaults(control: Control): (state: State) => void {
  const surface = byId("fault-surface", HTMLSelectElement);
  const path = byId("fault-path", HTMLSelectElement);
  const times = byId("fault-times", HTMLSelectElement);
  const count = byId("fault-count", HTMLElement);
  const clear = byId("clear-faults", HTMLButtonElement);
  let inForce: readonly ListedFault[] = [];

  function ruleOf({ name, fault, connection }: Preset): Record<string, unknown> {
    return {
      name,
      fault,
      ...(surface.value === "" ? {} : { surface: surface.value }),
      ...(connection === true || path.value === "" ? {} : { path: path.value }),
      ...(connection === true ? {} : { times: Number(times.value) }),
    };
  }

  async function toggle(preset: Preset): Promise<void> {
    const set = inForce.filter(({ name }) => name === preset.name);
    if (set.length === 0) {
      await control.post("faults", ruleOf(preset));
    } else {
      await Promise.all(set.map(({ id }) => control.remove(`faults/${id}`)));
    }
  }

  function button(preset: Preset): PresetButton {
    const element = fromTemplate("preset-row");
    const hint = within(element, "span", HTMLElement);
    setText(within(element, "b", HTMLElement), preset.name);
    setText(hint, preset.hint);
    element.addEventListener("click", () => void toggle(preset));
    byId("presets", HTMLElement).append(element);
    return {
      preset,
      show(faults) {
        const [mine] = faults.filter(({ name }) => name === preset.name);
        element.setAttribute("aria-pressed", String(mine !== undefined));
        element.title = mine === undefined ? preset.hint : `${preset.hint}: ${what(mine)}`;
        setText(hint, mine === undefined ? preset.hint : progress(mine));
      },
    };
  }

  const buttons = presets.map(button);
  const others = keyedList(
    byId("other-faults", HTMLElement),
    (fault: ListedFault) => fault.id,
    ({ id }) => {
      const element = fromTemplate("fault-row");
      within(element, "button", HTMLButtonElement).addEventListener(
        "click",
        () => void control.remove(`faults/${id}`),
      );
      return {
        element,
        show(fault) {
          setText(within(element, "b", HTMLElement), fault.name ?? fault.fault.kind);
          setText(within(element, "span span", HTMLElement), `${what(fault)}, ${progress(fault)}`);
        },
      };
    },
  );
  clear.addEventListener("click", () => void control.remove("faults"));

  return ({ faults }) => {
    inForce = faults;
    buttons.forEach((one) => one.show(faults));
    others(faults.filter(({ name }) => presets.every((preset) => preset.name !== name)));
    clear.hidden = faults.length === 0;
    setText(count, faults.length === 0 ? "" : `${faults.length} on`);
  };
}
