import type { NodeAPI, NodeDef } from "node-red";
import { CommandQueues, CloudClient } from "../../src/cloud/client.ts";
import { readBaseUrl } from "../../src/rules/addresses.ts";
import { serveCloudRoutes } from "../../src/runtime/admin/cloud-routes.ts";
import { openOrExplain, type ConfigNode } from "../../src/runtime/config/config-node.ts";
import { HealthWatch } from "../../src/runtime/config/health.ts";
import { NamedNodes } from "../../src/runtime/config/named-nodes.ts";
import { chooseProxy } from "../../src/runtime/config/proxy.ts";
import { readCurrent } from "../../src/runtime/action/saved-properties.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { readTls } from "../../src/runtime/config/tls.ts";
import { defaults, type CloudProperties } from "./cloud.shared.ts";

interface CloudCredentials {
  token: string;
}

/** `dimensioner-cloud`: owns the connections to the cloud and keeps the token; everything ends when it is closed. */
export default function (RED: NodeAPI): void {
  // One queue a device of the cloud, however many config nodes lead to it.
  const queues = new CommandQueues();
  const healths = new HealthWatch(RED);
  const named = new NamedNodes();

  function CloudNode(
    this: ConfigNode<CloudClient, CloudCredentials>,
    config: NodeDef & Partial<CloudProperties>,
  ): void {
    RED.nodes.createNode(this, config);
    this.named = named;
    named.add(this);
    const { token = "" }: Partial<CloudCredentials> = this.credentials ?? {};
    const opened = openOrExplain(() => open(RED, readCurrent(defaults, config), token, queues));
    this.access = opened;
    if ("problem" in opened) {
      return;
    }
    const { client, checkMs } = opened;
    const unwatch = healths.watch(this, {
      intervalMs: checkMs,
      check: (signal) => client.devices({ signal }),
    });
    this.on("close", (done: () => void) => {
      unwatch();
      void client.close().finally(done);
    });
  }

  RED.nodes.registerType("dimensioner-cloud", CloudNode, { credentials: { token: { type: "password" } } });
  serveCloudRoutes(RED);
}

function open(
  RED: NodeAPI,
  properties: CloudProperties,
  token: string,
  queues: CommandQueues,
): { readonly client: CloudClient; readonly checkMs: number } {
  const settings = new SettingsReader("cloud");
  const baseUrl = String(properties.baseUrl);
  const allowHttp = properties.allowHttp === true;
  const address = readBaseUrl(baseUrl, allowHttp);
  if ("problem" in address) {
    throw settings.invalid("baseUrl", address.problem);
  }
  const checkMs = settings.waitMs("checkInterval", properties.checkInterval, 0);
  const client = new CloudClient({
    baseUrl,
    token,
    allowHttp,
    timeoutMs: settings.timeoutMs("timeout", properties.timeout, 60),
    queueLimit: settings.count("queueLimit", properties.queueLimit, 10),
    maxWaitMs: settings.waitMs("maxWait", properties.maxWait, 30),
    tls: readTls(RED, properties.tls, settings),
    proxyUrl: chooseProxy(RED, properties.proxy, address.origin, settings),
    queues,
  });
  return { client, checkMs };
}
