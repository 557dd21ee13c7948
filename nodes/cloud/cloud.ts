import type { NodeAPI, NodeDef } from "node-red";
import { CloudClient, CommandQueues } from "../../src/cloud/client.ts";
import { RegisteredDevices } from "../../src/cloud/fleet.ts";
import { readBaseUrl } from "../../src/rules/addresses.ts";
import { readCurrent } from "../../src/runtime/action/values.ts";
import { serveCloudRoutes } from "../../src/runtime/admin/cloud-routes.ts";
import { type ConfigNode, NamedNodes, openOrExplain } from "../../src/runtime/config/config-choice.ts";
import { HealthWatch } from "../../src/runtime/config/health.ts";
import { Recordings } from "../../src/runtime/config/recordings.ts";
import { SettingsReader, chooseProxy, readTls } from "../../src/runtime/config/settings.ts";
import { type CloudProperties, defaults, properties } from "./cloud.shared.ts";

interface CloudCredentials {
  token: string;
}

/** `dimensioner-cloud`: owns the connections to the cloud and keeps the token; everything ends when it is closed. */
export default function (RED: NodeAPI): void {
  // One queue for each device of the cloud, even if several config nodes lead to it.
  const queues = new CommandQueues();
  const healths = new HealthWatch(RED);
  const named = new NamedNodes();
  // Kept over deploys, because a recording goes on while its flow is deployed.
  const recordings = new Recordings();

  function CloudNode(
    this: ConfigNode<CloudClient, CloudCredentials>,
    config: NodeDef & Partial<CloudProperties>,
  ): void {
    RED.nodes.createNode(this, config);
    this.named = named;
    named.add(this);
    const { token = "" }: Partial<CloudCredentials> = this.credentials ?? {};
    const opened = openOrExplain(() => open(RED, readCurrent(defaults, config), token, queues));
    if ("problem" in opened) {
      this.access = opened;
      return;
    }
    const { client, checkMs } = opened;
    const registered = new RegisteredDevices(client);
    this.access = { client, recordings, registered };
    const unwatch = healths.watch(this, {
      intervalMs: checkMs,
      check: (signal) => registered.read({ signal }),
      clock: client.clock,
    });
    this.on("close", (done: () => void) => {
      unwatch();
      void client.close().finally(done);
    });
  }

  RED.nodes.registerType("dimensioner-cloud", CloudNode, { credentials: { token: { type: "password" } } });
  serveCloudRoutes(RED, properties.timeout);
}

function open(
  RED: NodeAPI,
  saved: CloudProperties,
  token: string,
  queues: CommandQueues,
): { readonly client: CloudClient; readonly checkMs: number } {
  const reader = new SettingsReader("cloud");
  const { checkIntervalMs: checkMs, tls, proxy, ...settings } = reader.read(properties, saved);
  reader.refuseUnset({ token });
  const address = readBaseUrl(settings.baseUrl, settings.allowHttp);
  if ("problem" in address) {
    throw reader.invalid("baseUrl", address.problem);
  }
  const client = new CloudClient({
    ...settings,
    token,
    tls: readTls(RED, tls, reader),
    proxyUrl: chooseProxy(RED, proxy, address.origin, reader),
    queues,
  });
  return { client, checkMs };
}
