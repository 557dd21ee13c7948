import { readFileSync } from "node:fs";
import { freemem } from "node:os";
import { cloudNode, credentials, driverOf, httpRequest, ring, tab } from "../flows.ts";
import { startNodeRed, type NodeRed } from "../node-red.ts";
import type { Runtime } from "../runtimes.ts";
import type { FlowNode } from "../user-dir.ts";
import type { Contender } from "./contender.ts";

export const flowNames = { ours: "this package", core: "core http request + file" } as const;

/** A Node-RED that takes more memory is ended, because other programs on the computer need some too. */
const mostMemoryBytes = 8e9;

interface Places {
  readonly cloud: string;
  readonly files: string;
}

/** The contenders that are flows, each in a Node-RED of its own so that each has its own memory. */
export function flowContenders(runtimes: readonly Runtime[], places: Places): Contender[] {
  return runtimes.flatMap((runtime) =>
    (["ours", "core"] as const).map((kind) => new FlowContender(runtime, kind, places)),
  );
}

class FlowContender implements Contender {
  readonly name: string;
  readonly runtime: string;
  readonly #runtime: Runtime;
  readonly #kind: keyof typeof flowNames;
  readonly #places: Places;
  #started: { readonly nodeRed: NodeRed; readonly idleBytes: number } | undefined;
  #round = 0;

  constructor(runtime: Runtime, kind: keyof typeof flowNames, places: Places) {
    this.name = flowNames[kind];
    this.runtime = runtime.title;
    this.#runtime = runtime;
    this.#kind = kind;
    this.#places = places;
  }

  async run({ bytes, atOnce }: { bytes: number; atOnce: number }, url: string) {
    this.#started ??= await this.#start();
    const { nodeRed, idleBytes } = this.#started;
    this.#round += 1;
    const guard = guardMemory(nodeRed);
    // This package names the file after the transaction; the core node needs a whole path.
    const unique =
      this.#kind === "ours"
        ? { property: "transactionId", prefix: `round-${this.#round}-` }
        : { property: "filename", prefix: `${this.#places.files}/${this.#round}-` };
    try {
      const { ms, peakRssBytes } = await nodeRed.loop({
        node: driverOf("download"),
        inFlight: atOnce,
        count: atOnce,
        unique,
        messages: [{ url, contentId: String(bytes) }],
      });
      return { seconds: ms / 1000, memoryBytes: peakRssBytes - idleBytes };
    } catch (error) {
      throw guard.exceeded ? new Error(`it was ended at ${mostMemoryBytes / 1e9} GB of memory`) : error;
    } finally {
      guard.end();
    }
  }

  async stop(): Promise<void> {
    await this.#started?.nodeRed.stop();
    this.#started = undefined;
  }

  async #start() {
    const { cloud, files } = this.#places;
    const nodeRed = await startNodeRed({
      runtime: this.#runtime,
      credentials,
      flows: tab([
        cloudNode(cloud),
        ...ring("download", this.#kind === "ours" ? [fetchMediaToFile(files)] : core),
      ]),
    });
    return { nodeRed, idleBytes: (await nodeRed.memory()).rssBytes };
  }
}

/** Saves the medium with the message's `transactionId` and `contentId`. */
function fetchMediaToFile(folder: string): FlowNode {
  const contentId = { contentId: "contentId", contentIdType: "msg" };
  const output = { output: "file", folder, folderType: "str", filename: "", filenameType: "str" };
  return { type: "dimensioner-fetch-media", name: "", cloud: "cloud", ...contentId, ...output };
}

const core: readonly FlowNode[] = [
  httpRequest("bin"),
  {
    type: "file",
    name: "",
    filename: "filename",
    filenameType: "msg",
    appendNewline: false,
    createDir: false,
    overwriteFile: "true",
    encoding: "none",
  },
];

/** Ends a Node-RED that takes too much memory; does nothing where memory cannot be read. */
function guardMemory(nodeRed: NodeRed) {
  const limit = Math.min(mostMemoryBytes, freemem() * 0.6);
  const guard = { exceeded: false, end: () => clearInterval(timer) };
  const timer = setInterval(() => {
    if (residentBytes(nodeRed.pid) > limit) {
      guard.exceeded = true;
      clearInterval(timer);
      void nodeRed.stop("SIGKILL");
    }
  }, 50);
  return guard;
}

function residentBytes(pid: number): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
    const pageBytes = 4096;
    return pages * pageBytes;
  } catch {
    return 0;
  }
}
