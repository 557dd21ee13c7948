import type { NodeAPI, NodeDef } from "node-red";
import { CommandQueues, DeviceClient } from "../../src/device/client.ts";
import { readCurrent } from "../../src/runtime/action/values.ts";
import { serveDeviceTest } from "../../src/runtime/admin/device-routes.ts";
import { type ConfigNode, NamedNodes, openOrExplain } from "../../src/runtime/config/config-choice.ts";
import { HealthWatch, checkEcho } from "../../src/runtime/config/health.ts";
import { readCloudIds, readInstrument } from "../../src/runtime/config/instrument.ts";
import { Recordings } from "../../src/runtime/config/recordings.ts";
import { SettingsReader } from "../../src/runtime/config/settings.ts";
import { type DeviceProperties, defaults, properties } from "./device.shared.ts";

/** `dimensioner-device`: owns the connections to one device; everything ends when it is closed. */
export default function (RED: NodeAPI): void {
  // One queue for each physical device, even if several config nodes have its address.
  const queues = new CommandQueues();
  const healths = new HealthWatch(RED);
  const named = new NamedNodes();
  // Kept over deploys, because a recording goes on while its flow is deployed.
  const recordings = new Recordings();

  function DeviceNode(this: ConfigNode<DeviceClient>, config: NodeDef & Partial<DeviceProperties>): void {
    RED.nodes.createNode(this, config);
    this.named = named;
    named.add(this);
    const opened = openOrExplain(() => open(readCurrent(defaults, config), queues));
    if ("problem" in opened) {
      this.access = opened;
      return;
    }
    const { client, checkMs, instrument, cloudIds } = opened;
    this.access = { client, recordings, instrument, cloudIds };
    const unwatch = healths.watch(this, {
      intervalMs: checkMs,
      check: client.canPing ? (signal) => checkEcho(client, signal) : null,
      clock: client.clock,
    });
    this.on("close", (done: () => void) => {
      unwatch();
      void client.close().finally(done);
    });
  }

  RED.nodes.registerType("dimensioner-device", DeviceNode);
  serveDeviceTest(RED, properties);
}

function open(saved: DeviceProperties, queues: CommandQueues) {
  const settings = new SettingsReader("device").read(properties, saved);
  const { checkIntervalMs: checkMs, serialNumber, certificate, cloudIds, ...options } = settings;
  return {
    client: new DeviceClient({ ...options, queues }),
    checkMs,
    instrument: readInstrument({ serialNumber, certificate }),
    cloudIds: readCloudIds(cloudIds),
  };
}
