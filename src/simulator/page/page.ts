import { createCloud } from "./cloud.ts";
import { createControl } from "./control.ts";
import { createDevice } from "./device.ts";
import { byId, choose, onChoice, setText } from "./dom.ts";
import { createFaults } from "./faults.ts";
import { createParcels } from "./parcels.ts";
import { createRequests } from "./requests.ts";
import { createScanner } from "./scanner.ts";
import type { Generation, State } from "./shapes.ts";
import { watch } from "./stream.ts";
import { createViewer } from "./viewer.ts";

/** Starts the page: passes the simulator's events to the panels, and the user's actions to the simulator. */
function start(): void {
  let generation: Generation = location.hash === "#earlier" ? "earlier" : "newer";
  let state: State | undefined;
  const shown = (): Generation => generation;
  const control = createControl();
  const device = createDevice(control, shown);
  const parcels = createParcels(control, shown);
  const faults = createFaults(control);
  const requests = createRequests();
  const view = createViewer();
  const scanner = createScanner(control, view, shown);
  const cloud = createCloud(control, view);
  const link = byId("link", HTMLElement);
  const generations = byId("generation", HTMLElement);

  function show(): void {
    if (state === undefined) {
      return;
    }
    device(state);
    parcels(state[generation].parcel);
    scanner(state);
    faults(state);
    cloud.show(state);
  }

  choose(generations, generation);
  onChoice(generations, (value) => {
    generation = value === "earlier" ? "earlier" : "newer";
    history.replaceState(null, "", `#${generation}`);
    show();
  });
  byId("reset", HTMLButtonElement).addEventListener("click", () => void control.post("reset", {}));

  watch({
    connected(is) {
      setText(link, is ? "Live" : "No connection. Is the simulator still running?");
      link.dataset["kind"] = is ? "good" : "broken";
    },
    begin(recent) {
      requests.begin(recent.requests);
      cloud.begin(recent.transactions, recent.webhooks);
    },
    state(next) {
      state = next;
      show();
    },
    request: (request) => requests.add(request),
    transaction: (transaction) => cloud.add(transaction),
    media: (transactionId, item) => cloud.addMedia(transactionId, item),
    post: (post) => cloud.addPost(post),
  });
}

start();
