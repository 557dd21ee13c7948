import type { NodeAPI, NodeDef } from "node-red";
import { CloudClient } from "../../src/cloud/client.ts";
import { readBaseUrl } from "../../src/cloud/base-url.ts";
import { DimensionerError } from "../../src/errors.ts";
import { CommandQueues } from "../../src/http/command-queue.ts";
import type { Access, ConfigNode } from "../../src/runtime/config-node.ts";
import { chooseProxy } from "../../src/runtime/proxy.ts";
import { SettingsReader } from "../../src/runtime/settings.ts";
import { readTls } from "../../src/runtime/tls.ts";
import { defaults, type CloudProperties } from "./cloud.shared.ts";

interface CloudCredentials {
  token: string;
}

/** `dimensioner-cloud`: owns the connections to the cloud and keeps the token; everything ends when it is closed. */
export default function (RED: NodeAPI): void {
  // One queue a device of the cloud, however many config nodes lead to it.
  const queues = new CommandQueues();

  function CloudNode(
    this: ConfigNode<CloudClient, CloudCredentials>,
    config: NodeDef & Partial<CloudProperties>,
  ): void {
    RED.nodes.createNode(this, config);
    const { token = "" }: Partial<CloudCredentials> = this.credentials ?? {};
    this.access = open(RED, { ...defaults, ...config }, token, queues);
    this.on("close", (done: () => void) => {
      const closed = "client" in this.access ? this.access.client.close() : Promise.resolve();
      void closed.finally(done);
    });
  }

  RED.nodes.registerType("dimensioner-cloud", CloudNode, { credentials: { token: { type: "password" } } });
}

function open(
  RED: NodeAPI,
  properties: CloudProperties,
  token: string,
  queues: CommandQueues,
): Access<CloudClient> {
  const settings = new SettingsReader("cloud");
  const baseUrl = String(properties.baseUrl);
  const allowHttp = properties.allowHttp === true;
  try {
    const address = readBaseUrl(baseUrl, allowHttp);
    if ("problem" in address) {
      throw settings.invalid("baseUrl", address.problem);
    }
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
    return { client };
  } catch (error) {
    if (error instanceof DimensionerError) {
      return { problem: error };
    }
    throw error;
  }
}
