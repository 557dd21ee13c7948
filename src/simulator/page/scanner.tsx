import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { Switch } from "../../ui/choices.tsx";
import type { Actions, Control } from "./control.ts";
import { Copied } from "./widgets.tsx";
import type { Generation, State, TableParcel } from "./shapes.ts";
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

interface SettingsProps {
  readonly scanner: State["scanner"];
  readonly control: Control;
}

function Settings({ scanner: { on: isOn, settings }, control }: SettingsProps): VNode {
  const set = (changed: object): Promise<boolean> => control.send("scanner", changed);
  return (
    <div class="switches">
      <Switch id="scanner-on" isOn={isOn} send={(on) => set({ on })}>
        On
      </Switch>
      <Switch
        id="scanner-aim"
        isOn={settings.aim}
        send={(aim) => set({ aim })}
        title="A prefix such as ]C1, which says what kind of code it is"
      >
        AIM identifier
      </Switch>
      <Switch
        id="scanner-repeats"
        isOn={settings.repeats > 1}
        send={(on) => set({ repeats: on ? repeated : 1 })}
        title="Like a scanner that still sees the label"
      >
        Sends each scan three times
      </Switch>
      <Switch
        id="scanner-chunks"
        isOn={settings.chunkBytes > 0}
        send={(on) => set({ chunkBytes: on ? chunk : 0 })}
        title="Like a serial port"
      >
        Sends a few bytes at a time
      </Switch>
    </div>
  );
}

interface ScannerProps {
  readonly state: State;
  readonly generation: Generation;
  readonly actions: Actions;
}

/**
 * The panel of the scanner at the packing table: the label in front of it, its trigger, its settings, and what it has
 * sent.
 */
export function Scanner({ state, generation, actions }: ScannerProps): VNode {
  const { control, say, view } = actions;
  const { scanner } = state;
  const code = useRef<HTMLInputElement>(null);
  const label = labelOf(state[generation].parcel);
  const labelTitle = "The label of the parcel";
  const scan = (command: object): void =>
    void control.send("scanner/scan", { device: generation, ...command });

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    scan({ code: code.current?.value });
    code.current?.select();
  }
  return (
    <section class="card scanner" aria-labelledby="scanner-title">
      <div class="head">
        <h2 id="scanner-title">Scanner</h2>
        <p class="hint" id="scanner-links">
          {counted(scanner.connections)}
        </p>
        <Copied
          id="scanner-address"
          title="Copy the address"
          text={`${scanner.host}:${scanner.port}`}
          say={say}
        />
      </div>
      <div class="label">
        {label !== "" && (
          <button
            type="button"
            class="thumb"
            id="label"
            title="Show the label"
            onClick={() => view({ url: label, kind: "image", title: labelTitle })}
          >
            <img id="label-image" alt={labelTitle} width="800" height="1200" src={label} />
          </button>
        )}
        <form class="scan" id="scanner-form" onSubmit={submit}>
          <div class="row">
            <button type="button" class="main" id="scanner-label" onClick={() => scan({})}>
              Scan this parcel
            </button>
            <button type="button" id="scanner-matrix" onClick={() => scan({ symbology: "gs1-datamatrix" })}>
              Data Matrix
            </button>
            <button type="button" id="scanner-nothing" onClick={() => scan({ noRead: true })}>
              No read
            </button>
          </div>
          <label for="scanner-code">Another code</label>
          <div class="row">
            <input
              ref={code}
              id="scanner-code"
              autocomplete="off"
              spellcheck={false}
              placeholder="text"
              required
            />
            <button type="submit">Scan</button>
          </div>
          <Settings scanner={scanner} control={control} />
        </form>
      </div>
      <p class="sent" id="scanner-sent" role="status">
        {lastSent(scanner)}
      </p>
    </section>
  );
}
