import type { VNode } from "preact";
import { useRef } from "preact/hooks";

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
