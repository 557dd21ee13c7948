import type { NodeAPI, NodeDef } from "node-red";
import { CommandQueues, DeviceClient } from "../../src/device/client.ts";
import { generations, type Generation } from "../../src/device/generations.ts";
import { openOrExplain, type ConfigNode } from "../../src/runtime/config/config-node.ts";
import { phrase } from "../../src/errors/interpolation.ts";
import { serveDeviceTest } from "../../src/runtime/admin/device-routes.ts";
import { HealthWatch } from "../../src/runtime/config/health.ts";
import { NamedNodes } from "../../src/runtime/config/named-nodes.ts";
import { readCurrent } from "../../src/runtime/action/saved-properties.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { defaults, type DeviceProperties } from "./device.shared.ts";

/** `dimensioner-device`: owns the connections to one device; everything ends when it is closed. */
export default function (RED: NodeAPI): void {
  // One queue a machine, however many config nodes have its address.
  const queues = new CommandQueues();
  const healths = new HealthWatch(RED);
  const named = new NamedNodes();

  function DeviceNode(this: ConfigNode<DeviceClient>, config: NodeDef & Partial<DeviceProperties>): void {
    RED.nodes.createNode(this, config);
    this.named = named;
    named.add(this);
    const opened = openOrExplain(() => open(readCurrent(defaults, config), queues));
    this.access = opened;
    if ("problem" in opened) {
      return;
    }
    const { client, checkMs } = opened;
    const unwatch = healths.watch(this, {
      intervalMs: checkMs,
      check: client.canPing ? (signal) => client.ping("ping", { signal }) : null,
    });
    this.on("close", (done: () => void) => {
      unwatch();
      void client.close().finally(done);
    });
  }

  RED.nodes.registerType("dimensioner-device", DeviceNode);
  serveDeviceTest(RED, (given) => readGeneration(given, new SettingsReader("device")));
}

function open(
  properties: DeviceProperties,
  queues: CommandQueues,
): { readonly client: DeviceClient; readonly checkMs: number } {
  const settings = new SettingsReader("device");
  const checkMs = settings.waitMs("checkInterval", properties.checkInterval, 0);
  const client = new DeviceClient({
    address: String(properties.address),
    generation: readGeneration(properties.generation, settings),
    timeoutMs: settings.timeoutMs("timeout", properties.timeout, 30),
    queueLimit: settings.count("queueLimit", properties.queueLimit, 10),
    maxWaitMs: settings.waitMs("maxWait", properties.maxWait, 30),
    queues,
  });
  return { client, checkMs };
}

function readGeneration(given: string, settings: SettingsReader): Generation {
  if (Object.hasOwn(generations, given)) {
    return given as Generation;
  }
  throw settings.invalid("generation", phrase("oneOf", { choices: Object.keys(generations) }));
}
