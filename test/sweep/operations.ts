import assert from "node:assert/strict";
import type { Disk } from "../../src/media/disk.ts";
import type { IfExists } from "../../src/media/place-file.ts";
import { readToBuffer } from "../../src/media/read-to-buffer.ts";
import { saveToFile } from "../../src/media/save-to-file.ts";
import type { SavedFile } from "../../src/model/shapes.ts";
import type { Download } from "../../src/model/download.ts";
import type { CallOptions } from "../../src/http/transport.ts";
import type { SurfaceName } from "../../src/simulator/index.ts";
import { commands, reads, surfaceNames, type Clients } from "../support/operations.ts";
import type { RelayName, Testbed } from "./testbed.ts";

/** How a run ended. */
export type End = { readonly value: unknown } | { readonly error: unknown };

/** What an operation is given for one run. */
export interface Means {
  readonly clients: Clients;
  /** Where the receiver of webhooks is reached. */
  readonly webhookOrigin: string;
  readonly signal: AbortSignal;
  /** The deadline of a call. */
  readonly limitMs: number;
  readonly disk: Disk;
  readonly folder: string;
  /** Told of everything that happens on our side; nothing may come once the run has ended. */
  readonly onSign: () => void;
}

/** A file that is there before. */
export interface Standing {
  readonly name: string;
  readonly content: Buffer;
}

/** One run of an operation on a testbed that was made ready for it. */
export interface Run {
  start(means: Means): Promise<unknown>;
  /** Ends what runs, where that is not the clients' closing. */
  readonly shut?: () => unknown;
  /** How often the machine, or whoever acts here, has done it since; where it may be done at most once. */
  readonly acts?: () => number;
  /** Once all is closed: does it again without any fault, and asserts that nothing is lost or twice. */
  readonly again?: (end: End, folder: string) => Promise<void>;
  /** Asserts what a success promises beyond the rest. */
  readonly check?: (value: unknown) => void;
  /** The content that a download has to bring. */
  readonly content?: Buffer;
  readonly file?: { readonly ifExists: IfExists; readonly standing: Standing | null };
}

export interface SweptOperation {
  readonly name: string;
  readonly kind: "archive" | "command" | "download" | "read" | "webhook";
  readonly surface: RelayName;
  prepare(testbed: Testbed): Promise<Run>;
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
      start: ({ clients, signal, onSign }) =>
        command.run(clients, { signal, onTurn: onSign, onWaiting: onSign }),
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
  Record<string, (testbed: Testbed, clients: Clients, options: CallOptions) => Promise<unknown>>
> = {
  device: ({ sim }, { cloud }, options) => cloud.device(sim.cloud.devices[0]?.id ?? "", options),
  terminal: ({ sim }, { cloud }, options) =>
    cloud.terminal(String(sim.cloud.devices[0]?.terminalId), options),
};

const sweptReads = reads.map((read): SweptOperation => ({
  name: read.surface === "earlier" ? "earlier ping" : read.operation,
  kind: "read",
  surface: read.surface,
  async prepare(testbed) {
    testbed.sim.cloud.addMedia(transaction, { contentType: "image/jpeg", bytes: jpeg });
    return {
      start: ({ clients, signal }) =>
        readById[read.operation]?.(testbed, clients, { signal }) ?? read.run(clients, { signal }),
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
  /** Makes the medium, and says how it is fetched and what it is. */
  make(testbed: Testbed): Promise<{
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
    async make(testbed) {
      testbed.sim.newer.setMode("measurement-only");
      await testbed.sim.newer.pressAtDevice("measure");
      const id = testbed.sim.newer.state.last?.imageIdentifier ?? "";
      const content = await testbed.ask("newer", `/api/v1/image/color/${id}`);
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
    async make(testbed) {
      const { contentId } = testbed.sim.cloud.addMedia(transaction, {
        contentType: "video/mp4",
        generateBytes: 150_000,
      });
      const content = await testbed.ask("cloud", `/api/transactionmedia/${transaction}/${contentId}`);
      return {
        content,
        fetch: ({ cloud }, options) => cloud.media(transaction, contentId, options),
      };
    },
  },
};

/** What is to be done with a file, and whether another one of its name is there. */
const places: Readonly<Record<string, { ifExists: IfExists; isTaken: boolean }>> = {
  image: { ifExists: "rename", isTaken: true },
  "saved video": { ifExists: "replace", isTaken: true },
  media: { ifExists: "error", isTaken: false },
};

const standing: Standing = { name: "medium.bin", content: Buffer.from("was here before") };

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
    async prepare(testbed) {
      const { content, fetch } = await source.make(testbed);
      return {
        content,
        start: ({ clients, signal, onSign }) =>
          readToBuffer(() => fetch(clients, { signal, onProgress: onSign }), {
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
    async prepare(testbed) {
      const { content, fetch } = await source.make(testbed);
      return {
        content,
        file: { ifExists, standing: isTaken ? standing : null },
        start: ({ clients, signal, onSign, disk, folder }): Promise<SavedFile> =>
          saveToFile(
            () => fetch(clients, { signal, onProgress: onSign }),
            { folder, filename: standing.name, suggestedBase: "x", ifExists },
            { ...facts(signal), disk },
          ),
      };
    },
  };
  return [toBuffer, toFile];
});

/** Every call to a device or the cloud, and what makes of it a file or a buffer. */
export const sweptCalls: readonly SweptOperation[] = [...sweptCommands, ...sweptReads, ...sweptDownloads];
