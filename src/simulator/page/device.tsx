import type { VNode } from "preact";
import * as v from "valibot";
import { Choices, useChosen, Switch } from "../../ui/choices.tsx";
import type { Actions, Control } from "./control.ts";
import { Buttons, Copied, ScanForm } from "./widgets.tsx";
import { Readout, Screen } from "./screen.tsx";
import type { Generation, State } from "./shapes.ts";
import { replies } from "./words.ts";

const reply = v.object({ did: v.string() });

const modes = [
  { value: "measurement-only", name: "Measurement Only", hint: "Measures, no video" },
  { value: "video-with-measurement", name: "Video with Measurement", hint: "A measurement ends the video" },
  { value: "video-only", name: "Video Only", hint: "Records, never measures" },
  { value: "legal-for-trade", name: "Legal for Trade", hint: "Measures, no video" },
].map(({ value, name, hint }) => ({
  value,
  label: (
    <span>
      <b>{name}</b>
      {hint}
    </span>
  ),
}));

function Modes({ mode, control }: { readonly mode: string; readonly control: Control }): VNode {
  const [shown, choose] = useChosen(mode, (next: string) => control.send("mode", { mode: next }));
  return (
    <Choices
      id="modes"
      class="modes"
      legend={<legend>Operating mode</legend>}
      name="mode"
      choices={modes}
      value={shown}
      onChoose={choose}
    />
  );
}

interface DeviceProps {
  readonly state: State;
  readonly generation: Generation;
  readonly actions: Actions;
}

/** The panel of the device: its screen, buttons, scanner and switches. */
export function Device({ state, generation, actions }: DeviceProps): VNode {
  const { control, say } = actions;
  const { newer, earlier } = state;
  const isNewer = generation === "newer";

  /** Says what a scan or a button has done at the device. */
  async function act(path: string, body: unknown): Promise<void> {
    const answer = v.safeParse(reply, await control.ask(path, body));
    const words = answer.success ? replies.get(answer.output.did) : undefined;
    if (words !== undefined) {
      say(words);
    }
  }
  const scan = (barcode: string): void => void act("scan", { barcode });

  return (
    <section class="card device" aria-labelledby="device-title">
      <div class="head">
        <h2 id="device-title">{isNewer ? "Newer device" : "Earlier device"}</h2>
        <Copied id="device-address" title="Copy the address" text={state[generation].origin} say={say} />
      </div>
      <div class="instrument">
        <Screen state={state} generation={generation} />
        <Readout state={state} generation={generation} />
      </div>
      <Buttons
        newer={isNewer ? newer : null}
        say={say}
        press={(button) => void act("press", { device: generation, button })}
      />
      {isNewer && <ScanForm label={newer.parcel?.barcode ?? ""} scan={scan} say={say} />}
      {isNewer && <Modes mode={newer.mode} control={control} />}
      {/* Each switch has a key: another device's switch must not take over what the user has chosen. */}
      <div class="switches">
        {isNewer && (
          <Switch key="power" id="power" isOn={newer.powered} send={(on) => control.send("power", { on })}>
            Power
          </Switch>
        )}
        {isNewer && (
          <Switch
            key="local-api"
            id="local-api"
            isOn={newer.localApi}
            send={(on) => control.send("local-api", { on })}
          >
            Enable Local API
          </Switch>
        )}
        {!isNewer && (
          <Switch
            key="legal-for-trade"
            id="legal-for-trade"
            isOn={earlier.legalForTrade}
            send={(on) => control.send("legal-for-trade", { on })}
          >
            Legal for Trade
          </Switch>
        )}
      </div>
    </section>
  );
}
