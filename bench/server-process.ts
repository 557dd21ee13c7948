import { forkAndHear } from "./fork.ts";

export interface BenchServer {
  /** "http://127.0.0.1:8103" */
  readonly cloud: string;
  /** "127.0.0.1:8101", as a device's address is written. */
  readonly devices: readonly string[];
  stop(): Promise<void>;
}

/** Starts the server with this number of devices; it ends with this process. */
export async function startServer(devices = 1): Promise<BenchServer> {
  const { heard, stop } = await forkAndHear<{ cloud: number; devices: number[] }>("server.ts", [
    String(devices),
  ]);
  return {
    cloud: `http://127.0.0.1:${heard.cloud}`,
    devices: heard.devices.map((port) => `127.0.0.1:${port}`),
    stop,
  };
}
