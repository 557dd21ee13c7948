import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { CopyButton } from "../../ui/copy-button.tsx";
import type { Newer } from "./shapes.ts";

interface CopiedProps {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly say: (text: string) => void;
}

/** A text that a click copies. */
export function Copied(props: CopiedProps): VNode {
  return <CopyButton {...props} copied="Copied." notCopied="Press Ctrl+C to copy." />;
}

const buttons = [
  { name: "measure", label: "Measure" },
  { name: "start", label: "Record" },
  { name: "stop", label: "Stop" },
  { name: "cancel", label: "Cancel" },
] as const;
type Button = (typeof buttons)[number]["name"];

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

interface ButtonsProps {
  /** Null: the earlier device, which only measures. */
  readonly newer: Newer | null;
  readonly press: (button: Button) => void;
  readonly say: (text: string) => void;
}

/** The buttons of the device. A button without effect says why. */
export function Buttons({ newer, press, say }: ButtonsProps): VNode {
  return (
    <div class="keys" role="group" aria-label="Buttons of the device">
      {buttons
        .filter(({ name }) => newer !== null || name === "measure")
        .map(({ name, label }) => {
          const reason = newer === null ? "" : whyNot(name, newer);
          return (
            <button
              key={name}
              type="button"
              id={`press-${name}`}
              class={name === "measure" ? "main" : undefined}
              aria-disabled={reason !== ""}
              title={reason}
              onClick={() => (reason === "" ? press(name) : say(reason))}
            >
              {name === "start" && <i class="dot" />}
              {label}
            </button>
          );
        })}
    </div>
  );
}

const controlCodes = ["VIDEO_START", "VIDEO_RESET"];

interface ScanFormProps {
  /** The barcode of the parcel on the table; "" if it has none. */
  readonly label: string;
  readonly scan: (text: string) => void;
  readonly say: (text: string) => void;
}

/** Scans with the scanner of the newer device. */
export function ScanForm({ label, scan, say }: ScanFormProps): VNode {
  const barcode = useRef<HTMLInputElement>(null);
  function submit(event: SubmitEvent): void {
    event.preventDefault();
    scan(barcode.current?.value ?? "");
    // The text is selected, so that the next scan replaces it.
    barcode.current?.select();
  }
  return (
    <form class="scan" id="scan-form" onSubmit={submit}>
      <label for="barcode">Scan at the device</label>
      <div class="row">
        <input
          ref={barcode}
          id="barcode"
          autocomplete="off"
          spellcheck={false}
          placeholder="barcode"
          required
        />
        <button type="submit">Scan</button>
      </div>
      <div class="chips">
        <button
          type="button"
          id="scan-label"
          onClick={() => (label === "" ? say("The parcel has no barcode.") : scan(label))}
        >
          Label of the parcel
        </button>
        {controlCodes.map((code) => (
          <button key={code} type="button" data-scan={code} onClick={() => scan(code)}>
            {code}
          </button>
        ))}
      </div>
    </form>
  );
}
