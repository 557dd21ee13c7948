import type { Node, NodeAPI, NodeDef } from "node-red";
import type { CloudClient } from "../../src/cloud/client.ts";
import { FleetWatch, listFleet } from "../../src/cloud/fleet.ts";
import { cloudChoice } from "../../src/runtime/config/config-node.ts";
import { readSaved } from "../../src/runtime/action/saved-properties.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { ValueReader } from "../../src/runtime/action/values.ts";
import { defaults, properties as table, type DeviceListProperties } from "./device-list.shared.ts";

/** `dimensioner-device-list`: the devices of the cloud with their terminals, all or what has changed. */
export default function (RED: NodeAPI): void {
  function DeviceListNode(this: Node, config: NodeDef & Partial<DeviceListProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const clouds = cloudChoice(RED, properties);
    // What was last seen, for each cloud that messages have chosen.
    const watches = new WeakMap<CloudClient, FleetWatch>();

    serve(RED, this, { operation: "device list", acts: false, config: clouds, properties }, async (job) => {
      const { msg, signal, status } = job;
      const { client, operation } = clouds.choose(job, "device list", false);
      const values = new ValueReader(RED, this, msg, operation);
      const emit = values.setting("emit", properties.emit, table.emit.of);
      const silentAfter = values.number("silentAfter", table.silentAfter, properties.silentAfter) / 1000;
      status.say("working", "fetching");
      const all = await listFleet(client, { signal });
      let devices = all;
      if (properties.changesOnly) {
        const watch = watches.get(client) ?? new FleetWatch();
        watches.set(client, watch);
        devices = watch.changes(all, silentAfter);
        status.say("done", "changedDevices", { count: devices.length, total: all.length });
      } else {
        status.say("done", "devices", { count: all.length });
      }
      if (emit === "array") {
        msg.payload = devices;
        return [msg];
      }
      const id = RED.util.generateId();
      const count = devices.length;
      return [
        devices.map((payload, index) =>
          Object.assign(RED.util.cloneMessage(msg), { payload, parts: { id, index, count, type: "array" } }),
        ),
      ];
    });
  }

  RED.nodes.registerType("dimensioner-device-list", DeviceListNode);
}
