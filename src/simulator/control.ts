import { createServer } from "node:http";
import type { Simulator } from "./simulator.ts";

export async function startControl(
  host: string,
  port: number,
  simulator: () => Simulator,
): Promise<{ port: number; connections: number; close(): Promise<void> }> {
  const server = createServer((_, response) => response.end(JSON.stringify(simulator().newer.state)));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    connections: 0,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
