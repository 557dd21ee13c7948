import type { Node, NodeAPI, NodeDef } from "node-red";
import type { KnownDevice } from "../../src/model/instrument.ts";
import type { References } from "../../src/model/measurement.ts";
import { commandOptions, deliverMeasurement, deliverVideo } from "../../src/runtime/action/deliver.ts";
import { CommandJournal } from "../../src/runtime/action/command-journal.ts";
import { Repeats } from "../../src/runtime/action/repeats.ts";
import { serve } from "../../src/runtime/action/serve.ts";
import {
  ValueReader,
  demandReference,
  readChoice,
  readParcel,
  readReferences,
  readSaved,
} from "../../src/runtime/action/values.ts";
import { cloudChoice, throughCloud } from "../../src/runtime/config/config-choice.ts";
import { CloudDevices } from "../../src/runtime/config/instrument.ts";
import { settingsOf } from "../../src/runtime/config/settings.ts";
import { momentNow } from "../../src/time/clocks.ts";
import { type RemoteTriggerProperties, defaults, properties as table } from "./remote-trigger.shared.ts";

/** `dimensioner-remote-trigger`: has the cloud start, stop or cancel a recording, or measure, on a registered device. */
export default function (RED: NodeAPI): void {
  const devices = new CloudDevices(RED);

  const journal = new CommandJournal(RED, "dimensioner-remote-trigger");

  function RemoteTriggerNode(this: Node, config: NodeDef & Partial<RemoteTriggerProperties>): void {
    RED.nodes.createNode(this, config);
    const properties = readSaved(defaults, config);
    const clouds = cloudChoice(RED, properties);
    const repeats = new Repeats();
    const settings = settingsOf(table, properties);
    const served = { operation: "remote trigger", acts: true, config: clouds, properties, settings, journal };
    serve(RED, this, served, async (job, { action: chosenAction, ignoreRepeatsMs, failures }) => {
      const { client, ...chosen } = clouds.choose(job, "remote trigger", true);
      const { operation, recordings } = chosen;
      const values = new ValueReader(RED, this, job.msg, operation);
      const action = readChoice(job.msg, operation, "action", chosenAction, table.action.of);
      const device = await values.required({
        field: "deviceReference",
        value: properties.deviceReference,
        type: properties.deviceReferenceType,
      });
      const { name, instrument } = devices.known(device, chosen.registered);
      job.device = name ?? device;
      const given = {
        transactionReference: properties.transactionReference,
        transactionReferenceType: properties.transactionReferenceType,
        customReference1: properties.cRef1,
        customReference1Type: properties.cRef1Type,
        customReference2: properties.cRef2,
        customReference2Type: properties.cRef2Type,
        customReference3: properties.cRef3,
        customReference3Type: properties.cRef3Type,
      };
      let sentAt = momentNow();
      let found: Promise<KnownDevice> | undefined;
      const onTurn = (): void => {
        sentAt = momentNow();
        // Read beside the command, which does not wait for it.
        found = devices.find(device, chosen.registered);
      };
      const named = async <T>(sent: Promise<T>): Promise<T> => {
        try {
          return await sent;
        } finally {
          job.device = (await found)?.name ?? name ?? device;
        }
      };
      const target = {
        ...throughCloud(chosen, client.peer, device),
        instrument,
      };
      const { deviceKey } = target;
      const optionsFor = (references: References) =>
        commandOptions(job, { target, operation: `remote ${action}`, references, onTurn });
      if (action === "stop" || action === "cancel") {
        const { transactionReference = null } = await readReferences(values, given);
        const options = optionsFor({});
        await named(
          recordings.track(deviceKey, () =>
            action === "stop" ? client.stopVideo(device, options) : client.cancelVideo(device, options),
          ),
        );
        // After another command to this device, a start for the same parcel is not a repeat.
        repeats.forgetDevice(deviceKey);
        return deliverVideo(job, target, action, transactionReference);
      }
      const references = await readParcel(values, job.msg, given);
      const reference = demandReference(values, given, references);
      const wanted = {
        reference,
        scope: `${deviceKey} ${action}`,
        windowMs: ignoreRepeatsMs,
        status: job.status,
      };
      return repeats.unlessRepeated(wanted, async () => {
        if (action === "start") {
          const options = optionsFor(references);
          const start = () => client.startVideo(device, references, options);
          await named(recordings.track(deviceKey, start, reference));
          return deliverVideo(job, target, action, reference);
        }
        const sent = { transactionReference: reference };
        const options = optionsFor(sent);
        const measurement = await named(
          recordings.track(deviceKey, () => client.measure(device, reference, options)),
        );
        return deliverMeasurement(job, target, { measurement, reference, sent, sentAt, tag: null, failures });
      });
    });
  }

  RED.nodes.registerType("dimensioner-remote-trigger", RemoteTriggerNode);
}
