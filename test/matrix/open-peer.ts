import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { startSimulator, type Fault, type Simulator, type SurfaceName } from "../../src/simulator/index.ts";
import { startFullBacklog } from "../support/full-backlog.ts";
import type { Opened } from "../support/opened.ts";
import { deviceCode, token, type Origins } from "../support/operations.ts";
import { freePort, startServer } from "../support/servers.ts";
import { identity, pem } from "../support/tls.ts";
import type { Peer } from "./peer.ts";
import type { Given, OperationInfo, Row } from "./row.ts";
import { openScriptedPeer } from "./scripted-peer.ts";
import { fileOf, transaction } from "./scripted-server.ts";

/** The facts of an operation that a peer needs. */
export interface AskedOperation extends OperationInfo {
  readonly path: string;
}

/** What the peers of one row share. */
export interface RowResources {
  /** A port that neither accepts nor refuses connections, if the row needs one. */
  readonly fullPort: number;
}

export async function openRowResources({ target }: Row, opened: Opened): Promise<RowResources> {
  if (target !== "nobody takes the connection") {
    return { fullPort: 0 };
  }
  const { port } = opened(await startFullBacklog());
  // On a busy computer a slow port can have been taken for a full one.
  while (await canConnect(port, opened)) {}
  return { fullPort: port };
}

/** The surface whose port the row closes. */
function surfaceToClose(
  { faults = [], given = [] }: Row,
  { surface }: AskedOperation,
): SurfaceName | undefined {
  if (given.some((one) => "power" in one)) {
    return "newer";
  }
  return faults.some(({ kind }) => kind === "refuse") ? surface : undefined;
}

/** Occupies the port with a connection to the keeper, so that no server of another test gets it. */
async function holdPort(localPort: number, keeper: number, opened: Opened): Promise<void> {
  const socket = connect({ port: keeper, host: "127.0.0.1", localAddress: "127.0.0.1", localPort });
  opened({ close: () => socket.destroy() });
  await once(socket, "connect");
}

/** Whether a connection is established within half a second; it stays open. */
async function canConnect(port: number, opened: Opened): Promise<boolean> {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  opened({ close: () => socket.destroy() });
  const patience = new AbortController();
  const taken = await Promise.race([
    once(socket, "connect", { signal: patience.signal }).then(() => true),
    sleep(500, false, { signal: patience.signal }),
  ]);
  patience.abort();
  return taken;
}

export async function openPeer(
  row: Row,
  asked: AskedOperation,
  resources: RowResources,
  opened: Opened,
): Promise<Peer> {
  return row.script === undefined
    ? openSimulatedPeer(row, asked, resources, opened)
    : openScriptedPeer(row, opened);
}

async function openSimulatedPeer(
  row: Row,
  asked: AskedOperation,
  { fullPort }: RowResources,
  opened: Opened,
): Promise<Peer> {
  const { target, simulator = {}, faults = [], passes = false } = row;
  const isCommand = asked.kind === "measure" || asked.kind === "video";
  const needsVideo = asked.kind === "video" || asked.operation === "video";
  const closedSurface = surfaceToClose(row, asked);
  const sim = opened(
    await startSimulator({
      // Until it is held, nobody else is given the port that is to be closed.
      ...(closedSurface === undefined ? {} : { ports: { [closedSurface]: await freePort() } }),
      mode: needsVideo ? "video-only" : "video-with-measurement",
      token,
      deviceCode,
      ...(typeof target === "object" ? { tls: identity(target.certificate) } : {}),
      ...simulator,
    }),
  );
  const { id, content } = await prepare(sim, asked);
  const other = asked.surface === "newer" ? sim.cloud.origin : sim.newer.origin;
  const scans: Promise<unknown>[] = [];
  let before = { requests: 0, acts: 0 };
  const restart = (): void => {
    before = { requests: sim.requests.length, acts: actsOf(sim) };
  };
  return {
    origins: originsOf(sim, row, fullPort),
    tls:
      typeof target === "object" && target.authority === "known" ? { ca: pem("authority.crt") } : undefined,
    id,
    async arm() {
      const keeper = closedSurface === undefined ? 0 : opened(await startServer(() => undefined)).port;
      for (const one of (row.given ?? []).filter((given) => !("scan" in given))) {
        await applyGiven(sim, one);
      }
      faults.forEach((fault, index) => {
        const isLast = index === faults.length - 1;
        const rule = { surface: asked.surface, path: asked.path, fault: withRedirectTarget(fault, other) };
        sim.faults.add({ ...rule, times: isLast && !passes ? 0 : 1 });
      });
      if (closedSurface !== undefined) {
        await holdPort(sim[closedSurface].port, keeper, opened);
      }
      restart();
      for (const one of row.given ?? []) {
        if ("scan" in one) {
          scans.push(sim.newer.scanAtDevice(one.scan));
        }
      }
    },
    async again() {
      await prepareCommand(sim, asked);
      restart();
    },
    recover: () => sim.faults.clear(),
    get requests() {
      return sim.requests.length - before.requests;
    },
    requestsTo: (path) =>
      sim.requests.slice(before.requests).filter((request) => request.path.startsWith(path)).length,
    get metFault() {
      return sim.requests.slice(before.requests).some(({ outcome }) => outcome.startsWith("fault:"));
    },
    async acts() {
      await Promise.all(scans);
      return actsOf(sim) - before.acts;
    },
    content: () => content ?? Buffer.concat([...(sim.newer.readSavedVideo() ?? [])]),
    complaints() {
      const [before, after] = sim.requests.slice(-2);
      const isOther = row.warm === true && isCommand && before?.remotePort !== after?.remotePort;
      return isOther ? ["not the connection from before"] : [];
    },
  };
}

/** Creates what the operation requests. */
async function prepare(
  sim: Simulator,
  { kind, operation }: AskedOperation,
): Promise<{ id: string; content?: Buffer }> {
  const { newer, cloud } = sim;
  if (kind === "video" && operation.endsWith("stop")) {
    await newer.pressAtDevice("start");
  }
  switch (operation) {
    case "image": {
      await newer.pressAtDevice("measure");
      const id = newer.state.last?.imageIdentifier ?? "";
      const answer = await fetch(`${newer.origin}/api/v1/image/color/${id}`);
      return { id, content: Buffer.from(await answer.arrayBuffer()) };
    }
    case "video":
      await newer.pressAtDevice("start");
      await newer.pressAtDevice("stop");
      return { id: "" };
    case "media list":
    case "media": {
      const content = fileOf(1);
      const { contentId } = cloud.addMedia(transaction, { contentType: "video/mp4", bytes: content });
      return { id: contentId, content };
    }
    case "device":
      return { id: cloud.devices[0]?.id ?? "" };
    case "terminal":
      return { id: String(cloud.devices[0]?.terminalId) };
    default:
      return { id: "" };
  }
}

/** A stop has no effect if nothing is being recorded. */
async function prepareCommand({ newer }: Simulator, { kind, operation }: AskedOperation): Promise<void> {
  if (kind === "video" && operation.endsWith("stop")) {
    await newer.pressAtDevice("start");
  }
}

async function applyGiven(sim: Simulator, given: Given): Promise<void> {
  const { newer } = sim;
  if ("mode" in given) {
    newer.setMode(given.mode);
  }
  if ("parcel" in given) {
    newer.setParcel(given.parcel);
  }
  if ("localApi" in given) {
    newer.setLocalApi(given.localApi);
  }
  if ("power" in given) {
    newer.setPower(given.power);
  }
  if ("video" in given) {
    await newer.pressAtDevice(given.video);
  }
}

function originsOf(sim: Simulator, { target }: Row, fullPort: number): Origins {
  const all = (origin: string, cloud = origin): Origins => ({
    newer: { origin },
    earlier: { origin },
    cloud: { origin: cloud },
  });
  switch (target) {
    case "nobody has the name":
      return all("http://dock.invalid", "https://cloud.invalid");
    case "nobody takes the connection":
      return all(`http://127.0.0.1:${fullPort}`);
    case "a device of the other generation":
      return { newer: sim.earlier, earlier: sim.newer, cloud: sim.cloud };
    default:
      return sim;
  }
}

/** The number of acts of all devices. */
function actsOf({ newer, earlier }: Simulator): number {
  const counts = [newer.actions, earlier.actions].flatMap((actions) => Object.values(actions));
  return counts.reduce((sum: number, count: number) => sum + count, 0);
}

/** Fills in the other origin that a redirect names. */
function withRedirectTarget(fault: Fault, other: string): Fault {
  if (fault.kind !== "status" || fault.headers?.["location"] !== "{other}") {
    return fault;
  }
  return { ...fault, headers: { ...fault.headers, location: `${other}/elsewhere` } };
}
