import type { Node, NodeAPI, NodeDef } from "node-red";
import { missingMedia } from "../../src/cloud/expected-media.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { phrase } from "../../src/errors/interpolation.ts";
import { Archives } from "../../src/jobs/archive.ts";
import type { OpenJob } from "../../src/jobs/job-rows.ts";
import type { Submission } from "../../src/jobs/runner.ts";
import { endWithAbort, unlessAborted } from "../../src/media/disk.ts";
import { isKnown } from "../../src/properties/migrations.ts";
import { layoutProblem } from "../../src/rules/names.ts";
import { KnownOutputFolders } from "../../src/runtime/action/output.ts";
import { type Job, serve } from "../../src/runtime/action/serve.ts";
import { ValueReader, readSaved } from "../../src/runtime/action/values.ts";
import {
  checkKept,
  readIntent,
  readMedia,
  readPart,
  withOwnBytes,
} from "../../src/runtime/archive/intent.ts";
import {
  ArchiveMessages,
  isDeployed,
  jobCloud,
  jobDevice,
  jobDevices,
  mostMessages,
  NodeNames,
} from "../../src/runtime/archive/messages.ts";
import { ArchiveSession } from "../../src/runtime/archive/session.ts";
import { ArchiveStatus, HeldUpLog, HeldUpWarnings } from "../../src/runtime/archive/status.ts";
import { cloudChoice, deployed } from "../../src/runtime/config/config-choice.ts";
import { FlowsEvent, followFlows } from "../../src/runtime/config/flows-event.ts";
import { CloudDevices } from "../../src/runtime/config/instrument.ts";
import { SettingsReader, absence } from "../../src/runtime/config/settings.ts";
import type { Operation, Message } from "../../src/runtime/messages.ts";
import { translateValue } from "../../src/runtime/status/node-status.ts";
import { filesOf, linkToPackage, storeOf } from "../../src/runtime/store/store-choice.ts";
import { vaultName } from "../../src/vault/store.ts";
import { type ArchiveProperties, defaults, properties as table } from "./archive.shared.ts";

const operationOf = (surface: Operation["surface"]): Operation => ({
  operation: "archive",
  surface,
  acts: false,
});

/** How long a close waits for the database to accept a job, as the archive itself does. */
const acceptTimeoutMs = 5_000;

/**
 * `dimensioner-archive`: stores a transaction's media as an evidence package, also if Node-RED restarts in between.
 */
export default function (RED: NodeAPI): void {
  // Nodes with the same store share one archive.
  const archives = new Archives();
  const outputFolders = new KnownOutputFolders(RED);
  const flows = {
    started: new FlowsEvent(RED, "flows:started"),
    stopping: new FlowsEvent(RED, "flows:stopping"),
  };
  const names = new NodeNames(RED);
  const devices = new CloudDevices(RED);

  function ArchiveNode(this: Node, definition: NodeDef & Partial<ArchiveProperties>): void {
    RED.nodes.createNode(this, definition);
    names.had(this);
    const properties = readSaved(defaults, definition);
    const clouds = cloudChoice(RED, properties);
    const mayUseCloud = properties.cloud !== "" || properties.cloudFrom.trim() !== "";
    const hasStore = (): boolean => deployed(RED, properties.store) !== null;
    const config = {
      problem: () =>
        (mayUseCloud ? clouds.problem() : undefined) ??
        (hasStore() ? undefined : absence(RED, properties.store)),
      surface: () => (mayUseCloud ? clouds.surface() : "disk"),
    } as const;
    const status = new ArchiveStatus(RED, () => session.jobs);
    const heldUp = new HeldUpLog(RED, this, status, () => status.open);

    const readWarnAfter = (): number => {
      const settings = new SettingsReader("node", operationOf("config"));
      return settings.number("warnAfter", table.warnAfter, properties.warnAfter);
    };
    const warnings = new HeldUpWarnings(RED, this, {
      findMissing: missingMedia,
      afterMs: readWarnAfter,
      keptOf: (jobId) => session.textsOf(jobId),
      say: (key, values) => status.say(key, values),
    });

    const isOurs = (job: OpenJob): boolean => {
      if (job.node === this.id) {
        return true;
      }
      // The node that accepted the job was deleted, but its evidence must not be lost.
      if (isDeployed(RED, job.node)) {
        return false;
      }
      try {
        return job.intent.origin === null || jobCloud(clouds, job) !== undefined;
      } catch {
        return false;
      }
    };

    const resume = async (submission: Submission): Promise<void> => {
      const { node } = submission.running?.job ?? { node: this.id };
      const from = node === this.id ? {} : { resumedFrom: names.nameOf(node) };
      const msg: Message = { _msgid: RED.util.generateId(), resumed: true, ...from };
      Object.assign(msg, await submission.kept());
      messages.resume(msg, submission);
      this.receive(msg);
    };

    const readConcurrency = (operation: Operation): number => {
      const settings = new SettingsReader("node", operation);
      return settings.number("concurrency", table.concurrency, properties.concurrency);
    };

    let showsFailure = false;
    const session = new ArchiveSession(archives, {
      node: this.id,
      store: () => storeOf(RED, properties.store, operationOf("config")),
      concurrency: () => readConcurrency(operationOf("config")),
      cloud: (job) => jobCloud(clouds, job),
      device: (job) => jobDevices(RED, job.intent),
      findMissing: missingMedia,
      // An archive saves files as well: a message may name a file that another archive has archived.
      outputFolders: async () => [...(await outputFolders.all()), ...(await archives.openFolders())],
      onChange: (running) => {
        showsFailure = false;
        status.update(running);
        heldUp.update(running);
        warnings.update(running);
      },
      onWarning: ({ warning, values }) => this.warn(status.say(warning, values)),
      onTaken: ({ node, count }) =>
        this.warn(translateValue(RED, phrase("jobsTaken", { value: names.nameOf(node), count }))),
      isMine: isOurs,
      onResumed: resume,
      onResumeError: (error) => showFailure(error),
      onAway: (error) => {
        if (error !== undefined) {
          if (status.open === 0) {
            showFailure(error);
          }
          heldUp.cannotOpen(error, "packagesAway");
          return;
        }
        heldUp.opened();
        if (showsFailure) {
          showsFailure = false;
          this.status({});
        }
      },
      onFindings: ({ movedAside, damagedJobs, unknownMedia, elsewhere }) => {
        movedAside.forEach((path) => this.warn(status.say("movedAside", { path })));
        damagedJobs.forEach((id) => this.warn(status.say("damagedJob", { id })));
        if (unknownMedia !== null) {
          this.warn(status.say("unknownMedia", { path: unknownMedia }));
        }
        for (const { host, count } of elsewhere) {
          this.warn(translateValue(RED, phrase("jobsElsewhere", { value: host, count })));
        }
      },
    });

    const submit = async (job: Job): Promise<Submission> => {
      const { msg, signal } = job;
      const chosen = clouds.chooseIfAny(job, "archive", false);
      const operation = chosen?.operation ?? operationOf("disk");
      const values = new ValueReader(RED, this, msg, operation);
      readConcurrency(operation);
      readWarnAfter();
      const media = readMedia(msg, operation).map(withOwnBytes);
      const intent = await readIntent({
        RED,
        msg,
        values,
        operation,
        properties,
        table,
        origin: chosen?.client.peer.origin ?? null,
        brought: media,
        abilitiesOf: (id) => jobDevice(RED, id),
        nameOf: async (cloudId) => (await devices.find(cloudId, chosen?.registered)).name,
      });
      const host = vaultName(filesOf(storeOf(RED, properties.store, operation), operation));
      const facts = { ...operation, host, signal };
      const runner = await unlessAborted(session.open(), facts);
      const accepted =
        media.length === 0 ? runner.submit(intent) : runner.submitMedia(intent, media, readPart(msg));
      // A close waits for it, because only then it is known whether the message has to be sent again.
      return endWithAbort(accepted, facts, acceptTimeoutMs);
    };

    const messages = new ArchiveMessages({
      RED,
      properties,
      submit,
      valuesOf: (msg) => new ValueReader(RED, this, msg, operationOf("disk")),
      status,
      warnings,
      linkTo: (packageId) => linkToPackage(RED, properties.store, packageId),
    });

    serve(
      RED,
      this,
      {
        operation: "archive",
        acts: false,
        config,
        properties,
        settings: () => undefined,
        most: mostMessages,
        // Those of an earlier run all come in at once.
        wasAccepted: (msg) => messages.wasAccepted(msg),
        onReset: () => {
          messages.reset();
          session.dropResumed();
        },
      },
      (job) => messages.take(job),
    );

    const showFailure = (error: unknown): void => {
      showsFailure = true;
      const text = error instanceof DimensionerError ? status.causeOf(error) : String(error);
      this.status({ fill: "red", shape: "ring", text: text.slice(0, 31) });
    };

    /** Resumes the open jobs, and shows at the deploy what would make every message fail. */
    const begin = async (): Promise<void> => {
      try {
        const operation = operationOf("config");
        const settings = new SettingsReader("node", operation);
        const problem = layoutProblem(properties.layout);
        if (problem !== null) {
          throw settings.invalid("layout", problem);
        }
        checkKept(RED, properties.keep, operation);
        settings.flag("deviceVideo", table.deviceVideo.default, properties.deviceVideo);
        readConcurrency(operation);
        readWarnAfter();
        const isOpen = await session.openWhenThere((error) => {
          showFailure(error);
          heldUp.cannotOpen(error);
        });
        if (isOpen) {
          heldUp.opened();
          if (showsFailure) {
            this.status({});
          }
        }
      } catch (error) {
        showFailure(error);
      }
    };
    let hasBegun = false;
    const forget = followFlows(flows, {
      // Not earlier, because the nodes behind this one may not be there yet.
      onStarted: () => {
        if (hasBegun) {
          session.resumeAgain();
        } else if (isKnown(this.type, properties) && hasStore()) {
          hasBegun = true;
          void begin();
        }
      },
      onStopping: () => undefined,
    });

    this.on("close", (done: () => void) => {
      forget();
      warnings.close();
      status.close();
      void session.close().finally(done);
    });
  }

  RED.nodes.registerType("dimensioner-archive", ArchiveNode);
}
