import type { NodeAPI } from "node-red";
import { phrase } from "../../errors/interpolation.ts";
import type { TlsOptions } from "../../http/connections.ts";
import type { SettingsReader } from "./settings.ts";

/** The core tls-config node, which adds its settings to a given object. */
interface TlsConfig {
  readonly valid: boolean;
  addTLSOptions(options: TlsOptions): TlsOptions;
}

/** Reads a core tls-config node; undefined if none is selected. Throws ERR_CONFIG if it is missing or invalid. */
export function readTls(RED: NodeAPI, id: string, settings: SettingsReader): TlsOptions | undefined {
  if (id === "") {
    return undefined;
  }
  const node: unknown = RED.nodes.getNode(id);
  if (!isTlsConfig(node)) {
    throw settings.invalid("tls", phrase("tlsGone"));
  }
  if (!node.valid) {
    throw settings.invalid("tls", phrase("tlsInvalid"));
  }
  return node.addTLSOptions({});
}

function isTlsConfig(node: unknown): node is TlsConfig {
  return typeof node === "object" && node !== null && "valid" in node && "addTLSOptions" in node;
}
