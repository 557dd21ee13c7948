import type { NodeAPI } from "node-red";
import type { TimestampResult } from "../../model/shapes.ts";
import { readTimestampServer } from "../../rules/addresses.ts";
import { TimestampServer } from "../../vault/timestamp-server/client.ts";
import type { Job } from "../action/serve.ts";
import { chooseProxy } from "../config/proxy.ts";
import { SettingsReader } from "../config/settings.ts";
import { readTls } from "../config/tls.ts";
import { sourceOf, type EvidenceRequest } from "./evidence-work.ts";

/** The settings of the evidence node for time stamps. */
export interface TimestampSettings {
  readonly server: string;
  readonly timeoutMs: number;
  readonly user: string;
  /** IDs of core nodes; blank: none. */
  readonly tls: string;
  readonly proxy: string;
}

/** Has the newest manifest of a store time-stamped by the server of the settings. */
export async function timestamp(
  RED: NodeAPI,
  request: EvidenceRequest,
  { signal }: Job,
  { server, timeoutMs, user, tls, proxy }: TimestampSettings,
  password: string | undefined,
): Promise<TimestampResult> {
  const reader = new SettingsReader("node", request.operation);
  const address = readTimestampServer(server, false);
  const authority = new TimestampServer({
    server,
    timeoutMs,
    user,
    password,
    tls: readTls(RED, tls, reader),
    // Without a valid address, the client explains what is wrong with it.
    proxyUrl: "problem" in address ? undefined : chooseProxy(RED, proxy, address.origin, reader),
  });
  try {
    // Loaded only now: Node-RED loads this package when it starts, and few flows use time stamps.
    const { makeTimestamp } = await import("../../evidence/make-timestamp.ts");
    return await makeTimestamp(await sourceOf(request), authority, { roots: request.roots, signal });
  } finally {
    await authority.close();
  }
}
