import assert from "node:assert/strict";
import type { CallOptions } from "../../src/http/transport.ts";
import type { Disk } from "../../src/media/disk.ts";
import type { IfExists } from "../../src/media/place-file.ts";
import { readToBuffer } from "../../src/media/read-to-buffer.ts";
import { saveToFile } from "../../src/media/save-to-file.ts";
import type { Download } from "../../src/model/download.ts";
import type { SavedFile } from "../../src/model/shapes.ts";
import type { SurfaceName } from "../../src/simulator/index.ts";
import { type Clients, commands, reads, surfaceNames } from "../support/operations.ts";
import type { ProxyName, SweepEnvironment } from "./environment.ts";

/** How a run ended. */
export type End = { readonly value: unknown } | { readonly error: unknown };

/** What one run of an operation works with. */
export interface RunContext {
  readonly clients: Clients;
  /** Where the receiver of webhooks is reached. */
  readonly webhookOrigin: string;
  readonly signal: AbortSignal;
  /** The deadline of a call. */
  readonly limitMs: number;
  readonly disk: Disk;
  readonly folder: string;
  /** Called for everything that the operation reports; it must not be called after the end of the run. */
  readonly onEvent: () => void;
}

/** A file that exists before the run. */
export interface ExistingFile {
  readonly name: string;
  readonly content: Buffer;
}

/** One run of an operation, in an environment that was prepared for it. */
export interface Run {
  start(context: RunContext): Promise<unknown>;
  /** Stops the run, where closing the clients is not what does it. */
  readonly shut?: () => unknown;
  /**
   * How often the device, or whatever acts here, has acted since the preparation; given where it may act at most once.
   */
  readonly acts?: () => number;
  /**
   * After everything is closed: repeats the operation without a fault, and asserts that nothing is lost or done twice.
   */
  readonly again?: (end: End, folder: string) => Promise<void>;
  /** Asserts what the successful result of this operation must be. */
  readonly check?: (value: unknown) => void;
  /** The content that a download must have. */
  readonly content?: Buffer;
  readonly file?: { readonly ifExists: IfExists; readonly existing: ExistingFile | null };
}

export interface SweptOperation {
  readonly name: string;
  readonly kind: "archive" | "command" | "download" | "read" | "webhook";
  readonly surface: ProxyName;
  prepare(environment: SweepEnvironment): Promise<Run>;
}

const transaction = "905865";

const sweptCommands = commands.map((command): SweptOperation => ({
  name: command.surface === "earlier" ? "earlier measure" : command.operation,
  kind: "command",
  surface: command.surface,
  async prepare({ sim }) {
    sim.newer.setMode(command.kind === "measure" ? "measurement-only" : "video-only");
    if (/stop|cancel/.test(command.operation)) {
      await sim.newer.pressAtDevice("start");
    }
    const doneBefore = command.done(sim);
    return {
      acts: () => command.done(sim) - doneBefore,
      start: ({ clients, signal, onEvent }) =>
        command.run(clients, { signal, onTurn: onEvent, onWaiting: onEvent }),
      check(value) {
        if (command.kind === "video") {
          return;
        }
        assert.ok(typeof value === "object" && value !== null && "rawResponse" in value);
      },
    };
  },
}));

/** Calls whose ids are not the same in every simulator. */
const readById: Readonly<
  Record<string, (environment: SweepEnvironment, clients: Clients, options: CallOptions) => Promise<unknown>>
> = {
  device: ({ sim }, { cloud }, options) => cloud.device(sim.cloud.devices[0]?.id ?? "", options),
  terminal: ({ sim }, { cloud }, options) =>
    cloud.terminal(String(sim.cloud.devices[0]?.terminalId), options),
};

const sweptReads = reads.map((read): SweptOperation => ({
  name: read.surface === "earlier" ? "earlier ping" : read.operation,
  kind: "read",
  surface: read.surface,
  async prepare(environment) {
    environment.sim.cloud.addMedia(transaction, { contentType: "image/jpeg", bytes: jpeg });
    return {
      start: ({ clients, signal }) =>
        readById[read.operation]?.(environment, clients, { signal }) ?? read.run(clients, { signal }),
      check(value) {
        if (Array.isArray(value)) {
          assert.equal(value.length, 1);
        } else {
          assert.ok(typeof value === "object" && value !== null && Object.keys(value).length > 0);
        }
      },
    };
  },
}));

interface Source {
  readonly surface: SurfaceName;
  readonly operation: string;
  /** Creates the medium, and says what it is and how to download it. */
  make(environment: SweepEnvironment): Promise<{
    content: Buffer;
    fetch(clients: Clients, options: { signal: AbortSignal; onProgress: () => void }): Promise<Download>;
  }>;
}

const jpeg = Buffer.concat([
  Buffer.from("ffd8fffe0102", "hex"),
  Buffer.alloc(256, "p"),
  Buffer.from("ffd9", "hex"),
]);

const sources: Readonly<Record<string, Source>> = {
  image: {
    surface: "newer",
    operation: "image",
    async make(environment) {
      environment.sim.newer.setMode("measurement-only");
      await environment.sim.newer.pressAtDevice("measure");
      const id = environment.sim.newer.state.last?.imageIdentifier ?? "";
      const content = await environment.fetchDirectly("newer", `/api/v1/image/color/${id}`);
      return { content, fetch: ({ newer }, options) => newer.image("color", id, options) };
    },
  },
  "saved video": {
    surface: "newer",
    operation: "video",
    async make({ sim }) {
      sim.newer.setMode("video-only");
      await sim.newer.pressAtDevice("start");
      await sim.newer.pressAtDevice("stop");
      const content = Buffer.concat([...(sim.newer.readSavedVideo() ?? [])]);
      return { content, fetch: ({ newer }, options) => newer.video("download", options) };
    },
  },
  media: {
    surface: "cloud",
    operation: "fetch media",
    async make(environment) {
      const { contentId } = environment.sim.cloud.addMedia(transaction, {
        contentType: "video/mp4",
        generateBytes: 150_000,
      });
      const content = await environment.fetchDirectly(
        "cloud",
        `/api/transactionmedia/${transaction}/${contentId}`,
      );
      return {
        content,
        fetch: ({ cloud }, options) => cloud.media(transaction, contentId, options),
      };
    },
  },
};

/** Whether an existing file of that name is there, and what is to happen then. */
const places: Readonly<Record<string, { ifExists: IfExists; isTaken: boolean }>> = {
  image: { ifExists: "rename", isTaken: true },
  "saved video": { ifExists: "replace", isTaken: true },
  media: { ifExists: "error", isTaken: false },
};

const existing: ExistingFile = { name: "medium.bin", content: Buffer.from("was here before") };

const sweptDownloads = Object.entries(sources).flatMap(([name, source]): SweptOperation[] => {
  const facts = (signal: AbortSignal) =>
    ({
      operation: source.operation,
      surface: surfaceNames[source.surface],
      host: "the peer",
      signal,
    }) as const;
  const { ifExists = "error", isTaken = false } = places[name] ?? {};
  const toBuffer: SweptOperation = {
    name: `${name} to buffer`,
    kind: "download",
    surface: source.surface,
    async prepare(environment) {
      const { content, fetch } = await source.make(environment);
      return {
        content,
        start: ({ clients, signal, onEvent }) =>
          readToBuffer(() => fetch(clients, { signal, onProgress: onEvent }), {
            suggestedBase: "medium",
            ...facts(signal),
          }),
        check(value) {
          assert.ok(typeof value === "object" && value !== null && "payload" in value);
          assert.deepEqual(value.payload, content, "not what the peer has");
        },
      };
    },
  };
  const toFile: SweptOperation = {
    name: `${name} to file`,
    kind: "download",
    surface: source.surface,
    async prepare(environment) {
      const { content, fetch } = await source.make(environment);
      return {
        content,
        file: { ifExists, existing: isTaken ? existing : null },
        start: ({ clients, signal, onEvent, disk, folder }): Promise<SavedFile> =>
          saveToFile(
            () => fetch(clients, { signal, onProgress: onEvent }),
            { folder, filename: existing.name, suggestedBase: "x", ifExists },
            { ...facts(signal), disk },
          ),
      };
    },
  };
  return [toBuffer, toFile];
});

/** Every call to a device or the cloud, and every way to save its result to a file or a buffer. */
export const sweptCalls: readonly SweptOperation[] = [...sweptCommands, ...sweptReads, ...sweptDownloads];
