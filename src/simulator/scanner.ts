import { connect, type Socket } from "node:net";
import { groupSeparator, labelSymbologies, labelText } from "./catalogue/parcels.ts";
import type { TableParcel } from "./parcels.ts";
import { openPortListener } from "./port-listener.ts";
import {
  checkSettings,
  identifierOf,
  type ScanCommand,
  type ScannerOptions,
  type ScannerSettings,
  type SentScan,
  type Symbology,
} from "./scanner-types.ts";
import type { SimulatedScanner } from "./simulator.ts";
import type { Timers } from "./timers.ts";

/** The connections of the scanner: those to its port, and the one that it opens by itself. */
interface ScannerLinks {
  readonly port: number;
  readonly count: number;
  write(bytes: Uint8Array): void;
  /** Ends all connections after they have sent what was written. */
  cut(): void;
  /** False: the port refuses connections, and all open ones end. */
  setOpen(isOpen: boolean): void;
  close(): Promise<void>;
}

interface ScannerLinksOptions {
  readonly host: string;
  readonly port: number;
  readonly connectTo: ScannerOptions["connectTo"];
  readonly timers: Timers;
  readonly changed: () => void;
}

const reconnectMs = 500;
/** The connection of a receiver that does not read is closed, so that its scans do not pile up in memory. */
const mostUnreadBytes = 1024 * 1024;

async function openScannerLinks(options: ScannerLinksOptions): Promise<ScannerLinks> {
  const { host, port, connectTo, timers, changed } = options;
  const sockets = new Set<Socket>();
  let own: Socket | undefined;
  let cancelRetry = (): void => undefined;
  let isOpen = true;

  function use(socket: Socket): void {
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      changed();
    });
    socket.once("end", () => socket.end());
    // A scanner ignores what is sent to it.
    socket.resume();
    changed();
  }

  function connectOwn(): void {
    if (connectTo === null) {
      return;
    }
    const socket = connect({ ...connectTo, noDelay: true });
    own = socket;
    socket.once("connect", () => use(socket));
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      if (own === socket) {
        cancelRetry = timers.after(reconnectMs, connectOwn);
      }
    });
  }

  function leave(): void {
    cancelRetry();
    const socket = own;
    own = undefined;
    socket?.destroy();
  }

  const listener = await openPortListener({ host, port, timers, accept: use, connectionFault: () => null });
  connectOwn();
  return {
    port: listener.port,
    get count() {
      return sockets.size;
    },
    write(bytes) {
      for (const socket of sockets) {
        socket.write(bytes);
        if (socket.writableLength > mostUnreadBytes) {
          socket.destroy();
        }
      }
    },
    cut: () => sockets.forEach((socket) => socket.destroySoon()),
    setOpen(next) {
      if (next === isOpen) {
        return;
      }
      isOpen = next;
      listener.setListening(next);
      if (next) {
        connectOwn();
      } else {
        leave();
      }
    },
    close() {
      leave();
      return listener.close();
    },
  };
}

interface ScannerParts {
  readonly host: string;
  readonly port: number;
  readonly options: ScannerOptions;
  readonly timers: Timers;
  parcelOn(device: "newer" | "earlier"): TableParcel | null;
  changed(): void;
}

interface Scanner extends SimulatedScanner {
  reset(): void;
  close(): Promise<void>;
}

/** A scanner at the packing table: it sends what it reads to all connections. */
export async function openScanner(parts: ScannerParts): Promise<Scanner> {
  const { host, options, timers, changed } = parts;
  const { connectTo, ...firstSettings } = options;
  const links = await openScannerLinks({ host, port: parts.port, connectTo, timers, changed });
  let settings: ScannerSettings = firstSettings;
  let on = true;
  let last: SentScan | null = null;
  let queue: Promise<unknown> = Promise.resolve();

  function setPower(next: boolean): void {
    on = next;
    links.setOpen(next);
    changed();
  }

  /** The text that a command sends. */
  function textOf({ code, symbology, noRead = false, device = "newer" }: ScanCommand): string {
    const { aim, prefix, suffix, separator } = settings;
    const given = code === undefined ? null : { code, symbology: symbology ?? "code-128" };
    const found = noRead ? null : (given ?? codeOf(parts.parcelOn(device), symbology));
    if (found === null) {
      return prefix + settings.noRead + suffix;
    }
    const identifier = aim ? identifierOf(found.symbology) : "";
    return prefix + identifier + found.code.split(groupSeparator).join(separator) + suffix;
  }

  async function send(command: ScanCommand): Promise<SentScan> {
    if (!on) {
      return { at: new Date(), text: "", receivers: 0 };
    }
    const sent = { at: new Date(), text: textOf(command), receivers: links.count };
    last = sent;
    changed();
    const bytes = Buffer.from(sent.text);
    const { cutAtByte = Number.POSITIVE_INFINITY } = command;
    for (let time = 0; time < settings.repeats; time++) {
      await timers.sleep(time === 0 ? 0 : settings.repeatMs);
      await sendInChunks(bytes.subarray(0, cutAtByte));
      if (cutAtByte < bytes.length) {
        links.cut();
        break;
      }
    }
    return sent;
  }

  async function sendInChunks(bytes: Uint8Array): Promise<void> {
    const size = settings.chunkBytes === 0 ? bytes.length : settings.chunkBytes;
    for (let at = 0; at < bytes.length; at += size) {
      await timers.sleep(at === 0 ? 0 : settings.chunkMs);
      links.write(bytes.subarray(at, at + size));
    }
  }

  return {
    host,
    port: links.port,
    get connections() {
      return links.count;
    },
    get settings() {
      return settings;
    },
    get on() {
      return on;
    },
    get last() {
      return last;
    },
    set(next) {
      settings = { ...settings, ...checkSettings(next) };
      changed();
    },
    setPower,
    scan(command = {}) {
      // A scanner sends one scan after the other.
      const sent = queue.then(() => send(command));
      queue = sent.catch(() => undefined);
      return sent;
    },
    reset() {
      settings = firstSettings;
      last = null;
      setPower(true);
    },
    close: () => links.close(),
  };
}

interface ReadCode {
  readonly code: string;
  readonly symbology: Symbology;
}

/** The code of this kind on the label of a parcel; null if there is none. */
function codeOf(parcel: TableParcel | null, symbology: Symbology | undefined): ReadCode | null {
  if (parcel === null || parcel.barcode === "") {
    return null;
  }
  if (parcel.name === null) {
    return { code: parcel.barcode, symbology: symbology ?? "code-128" };
  }
  const found = labelSymbologies.find((one) => one === (symbology ?? "gs1-128"));
  return found === undefined ? null : { code: labelText(parcel.pictured, found), symbology: found };
}
