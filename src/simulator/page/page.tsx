import { options, render, type VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Choices, ServerState } from "../../ui/choices.tsx";
import { useNotice } from "../../ui/notice.tsx";
import { Viewer, type Media } from "../../ui/viewer.tsx";
import { createControl, type Actions } from "./control.ts";
import { Cloud } from "./cloud.tsx";
import { Device } from "./device.tsx";
import { Faults } from "./faults.tsx";
import { Parcels } from "./parcels.tsx";
import { Requests } from "./requests.tsx";
import { Scanner } from "./scanner.tsx";
import type { Generation } from "./shapes.ts";
import { useSimulator } from "./simulated.ts";

const generations = [
  { value: "newer", label: [" Newer", <span key="device"> device</span>] },
  { value: "earlier", label: [" Earlier", <span key="device"> device</span>] },
] as const;

function Link({ isConnected }: { readonly isConnected: boolean | undefined }): VNode {
  const kind = isConnected === undefined ? undefined : isConnected ? "good" : "broken";
  const text = isConnected === true ? "Live" : "No connection. Is the simulator still running?";
  return (
    <p id="link" class="link" role="status" data-kind={kind}>
      {isConnected === undefined ? "Connecting…" : text}
    </p>
  );
}

/** The page: passes the simulator's events to the panels, and the user's actions to the simulator. */
function Page(): VNode {
  const { isConnected, state, requests, entries } = useSimulator();
  const [generation, setGeneration] = useState<Generation>(
    location.hash === "#earlier" ? "earlier" : "newer",
  );
  const [media, view] = useState<Media>();
  const { notice, say } = useNotice();
  const actions = useMemo<Actions>(() => ({ control: createControl(say), say, view }), [say, view]);

  function choose(next: Generation): void {
    setGeneration(next);
    history.replaceState(null, "", `#${next}`);
  }
  return (
    <>
      <header>
        <img src="icon.svg" alt="" width="28" height="28" />
        <h1>Dimensioner simulator</h1>
        <Choices
          id="generation"
          class="segments"
          legend={<legend class="unseen">Device shown</legend>}
          name="generation"
          choices={generations}
          value={generation}
          onChoose={choose}
        />
        <Link isConnected={isConnected} />
        <button
          type="button"
          id="reset"
          title="Restore the initial state: no faults, no requests, an empty cloud"
          onClick={() => void actions.control.send("reset", {})}
        >
          Reset
        </button>
      </header>
      {state !== undefined && (
        <ServerState.Provider value={state}>
          <main>
            <Device state={state} generation={generation} actions={actions} />
            <div class="traffic">
              <Parcels parcel={state[generation].parcel} generation={generation} actions={actions} />
              <Scanner state={state} generation={generation} actions={actions} />
              <Requests requests={requests} />
            </div>
            <Faults faults={state.faults} control={actions.control} />
            <Cloud cloud={state.cloud} entries={entries} actions={actions} />
          </main>
        </ServerState.Provider>
      )}
      {notice}
      <Viewer media={media} close="Close" onClose={() => view(undefined)} />
    </>
  );
}

// Events come in bursts; what nobody can see is not drawn.
options.debounceRendering = (draw) => requestAnimationFrame(draw);
const place = document.getElementById("page");
if (place !== null) {
  render(<Page />, place);
}
