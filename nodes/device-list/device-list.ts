import type { Node, NodeAPI, NodeDef } from "node-red";
import type { CloudClient } from "../../src/cloud/client.ts";
import { FleetWatch, listFleet } from "../../src/cloud/fleet.ts";
import { sequenceOf } from "../../src/runtime/action/message.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import { readSaved } from "../../src/runtime/action/values.ts";
import { cloudChoice } from "../../src/runtime/config/config-choice.ts";
import { settingsOf } from "../../src/runtime/config/settings.ts";
import { translateError } from "../../src/runtime/status/node-status.ts";
import { type DeviceListProperties, defaults, properties as table } from "./device-list.shared.ts";

/** `dimensioner-device-list`: the devices of the cloud with their terminals, all or what has changed. */
export default function (RED: NodeAPI): void {
  function DeviceListNode(this: Node, config: NodeDef & Partial<DeviceListProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const clouds = cloudChoice(RED, properties);
    // The last list of each cloud that messages have chosen.
    const watches = new WeakMap<CloudClient, FleetWatch>();
    // A list that is requested every minute says once for each cloud that there are no terminals, until there are.
    const warned = new WeakSet<CloudClient>();

    const settings = settingsOf(table, properties);
    const served = { operation: "device list", acts: false, config: clouds, properties, settings };
    serve(RED, this, served, async (job, { emit, changesOnly, silentAfterMs }) => {
      const { msg, signal, status } = job;
      const { client, operation } = clouds.choose(job, "device list", false);
      status.say("working", "fetching");
      let hasTerminals = true;
      const all = await listFleet(client, {
        signal,
        onNoTerminals: (error) => {
          hasTerminals = false;
          if (!warned.has(client)) {
            warned.add(client);
            this.warn(translateError(RED, error, job.device));
          }
        },
      });
      if (hasTerminals) {
        warned.delete(client);
      }
      msg["clockAhead"] = client.clock.aheadSeconds();
      let devices = all;
      if (changesOnly) {
        const watch = watches.get(client) ?? new FleetWatch();
        watches.set(client, watch);
        devices = watch.changes(all, silentAfterMs / 1000, hasTerminals);
        status.say("done", "changedDevices", { count: devices.length, total: all.length });
      } else {
        status.say("done", "devices", { count: all.length });
      }
      if (emit === "array") {
        msg.payload = devices;
        return [msg];
      }
      const items = devices.map((payload) => ({ payload }));
      return [sequenceOf(RED, msg, operation, items)];
    });
  }

  RED.nodes.registerType("dimensioner-device-list", DeviceListNode);
}
