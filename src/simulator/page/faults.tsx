import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Control } from "./control.ts";
import type { ListedFault } from "./shapes.ts";

/** A fault of the control API with a name and a hint for people. */
interface Preset {
  /** Also the name of the rule, by which the page recognizes it. */
  readonly name: string;
  readonly hint: string;
  readonly fault: Readonly<Record<string, unknown>>;
  /** True: applies to connections instead of requests, until it ends or is switched off. */
  readonly connection?: true;
}

const signIn = "<!doctype html><title>Guest network</title><h1>Sign in to continue</h1>";

const presets: readonly Preset[] = [
  {
    name: "loses the answer",
    hint: "done, then disconnected",
    fault: { kind: "reset", acts: true },
  },
  {
    name: "does not answer",
    hint: "done, but no answer",
    fault: { kind: "silence", acts: true },
  },
  { name: "is slow", hint: "answers after 10 s", fault: { kind: "delay", ms: 10_000 } },
  {
    name: "sends slowly",
    hint: "a few bytes at a time",
    fault: { kind: "drip", bytes: 64, everyMs: 100 },
  },
  {
    name: "breaks off halfway",
    hint: "half of the answer",
    fault: { kind: "cut", atFraction: 0.5 },
  },
  {
    name: "answers 503",
    hint: "busy, does nothing",
    fault: { kind: "status", status: 503 },
  },
  {
    name: "answers 504",
    hint: "done, but too late",
    fault: { kind: "status", status: 504, acts: true },
  },
  {
    name: "answers 429",
    hint: "too many, wait 2 s",
    fault: { kind: "status", status: 429, headers: { "retry-after": "2" } },
  },
  {
    name: "answers 401",
    hint: "not allowed",
    fault: { kind: "status", status: 401 },
  },
  {
    name: "sends a sign-in page",
    hint: "like a guest network",
    fault: { kind: "body", text: signIn, contentType: "text/html", acts: false },
  },
  {
    name: "restarts",
    hint: "gone for 5 seconds",
    fault: { kind: "refuse", forMs: 5000 },
    connection: true,
  },
  {
    name: "is off the network",
    hint: "until switched off",
    fault: { kind: "refuse" },
    connection: true,
  },
];

/** Which requests a new fault applies to, and how often. */
interface Aim {
  readonly surface: string;
  readonly path: string;
  readonly times: string;
}

const surfaces = [
  ["newer", "newer device"],
  ["earlier", "earlier device"],
  ["cloud", "cloud"],
  ["", "everywhere"],
] as const;
const paths = [
  ["", "any request"],
  ["measure$", "measurements"],
  ["video/(start|stop|cancel)$|recording$", "recording"],
  ["image/|video(/stream|/download)?$|transactionmedia/", "images, videos"],
] as const;
const timesOf = [
  ["1", "the next one"],
  ["3", "the next 3"],
  ["0", "until switched off"],
] as const;

function ruleOf({ name, fault, connection }: Preset, { surface, path, times }: Aim): Record<string, unknown> {
  return {
    name,
    fault,
    ...(surface === "" ? {} : { surface }),
    ...(connection === true || path === "" ? {} : { path }),
    ...(connection === true ? {} : { times: Number(times) }),
  };
}

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

interface SelectProps {
  readonly id: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

function Select({ id, label, options, value: selected, onChoose }: SelectProps): VNode {
  return (
    <label>
      {label}
      <select id={id} value={selected} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface PresetButtonProps {
  readonly preset: Preset;
  /** The fault of this preset that is active. */
  readonly active: ListedFault | undefined;
  readonly toggle: () => void;
}

function PresetButton({ preset: { name, hint }, active, toggle }: PresetButtonProps): VNode {
  const isActive = active !== undefined;
  return (
    <button
      type="button"
      class="preset"
      aria-pressed={isActive}
      title={isActive ? `${hint}: ${what(active)}` : hint}
      onClick={toggle}
    >
      <b>{name}</b>
      <span>{isActive ? progress(active) : hint}</span>
    </button>
  );
}

interface FaultsProps {
  readonly faults: readonly ListedFault[];
  readonly control: Control;
}

/** The panel of faults: a list of presets, and the other active faults. */
export function Faults({ faults, control }: FaultsProps): VNode {
  const [aim, setAim] = useState<Aim>({ surface: "newer", path: "", times: "1" });
  const others = faults.filter(({ name }) => presets.every((preset) => preset.name !== name));
  const remove = (id: string): void => void control.remove(`faults/${id}`);

  function toggle(preset: Preset): void {
    const active = faults.filter(({ name }) => name === preset.name);
    if (active.length === 0) {
      void control.send("faults", ruleOf(preset, aim));
    }
    active.forEach(({ id }) => remove(id));
  }
  return (
    <section class="card faults" aria-labelledby="faults-title">
      <div class="head">
        <h2 id="faults-title">Faults</h2>
        <p class="hint" id="fault-count">
          {faults.length > 0 && `${faults.length} on`}
        </p>
        {faults.length > 0 && (
          <button type="button" id="clear-faults" onClick={() => void control.remove("faults")}>
            Turn all off
          </button>
        )}
      </div>
      <div class="aim">
        <Select
          id="fault-surface"
          label="Where"
          options={surfaces}
          value={aim.surface}
          onChoose={(surface) => setAim((before) => ({ ...before, surface }))}
        />
        <Select
          id="fault-path"
          label="What"
          options={paths}
          value={aim.path}
          onChoose={(path) => setAim((before) => ({ ...before, path }))}
        />
        <Select
          id="fault-times"
          label="How often"
          options={timesOf}
          value={aim.times}
          onChoose={(times) => setAim((before) => ({ ...before, times }))}
        />
      </div>
      <div class="presets" id="presets" role="group" aria-labelledby="faults-title">
        {presets.map((preset) => (
          <PresetButton
            key={preset.name}
            preset={preset}
            active={faults.find(({ name }) => name === preset.name)}
            toggle={() => toggle(preset)}
          />
        ))}
      </div>
      <ul id="other-faults" class="others" aria-label="Faults set elsewhere">
        {others.map((fault) => (
          <li key={fault.id}>
            <span>
              <b>{fault.name ?? fault.fault.kind}</b>{" "}
              <span>
                {what(fault)}, {progress(fault)}
              </span>
            </span>
            <button type="button" onClick={() => remove(fault.id)}>
              Off
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
