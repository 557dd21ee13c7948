import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn, setTimeout as delay } from "node:timers/promises";
import type { RequestRecord, Simulator } from "../../src/simulator/index.ts";
import { connectAndClose } from "./connect-and-close.ts";
import type { End, TestFlow } from "../support/flow.ts";
import { losePower, setMode } from "./device-model.ts";
import { routes, flowOf, idOf, timeoutMs, transactionId, type CommandRoute } from "./flow-nodes.ts";
import { compareWithModel, type Command, type Event } from "./compare.ts";
import { assertEnd, type SentMessage } from "./sent-messages.ts";
import { faults, type NodeName, type Step } from "./steps.ts";
import type { WallClock } from "./wall-clock.ts";

export interface ScenarioEnvironment {
  readonly flow: TestFlow;
  readonly sim: Simulator;
  readonly clock: WallClock;
  readonly folder: string;
}

/** This long after its deadline, even a busy computer has ended a message. */
const patienceMs = 60_000;

/** One sequence of steps in a flow that is deployed for it, with everything that has to hold all along. */
export class Scenario {
  readonly #flow: TestFlow;
  readonly #sim: Simulator;
  readonly #clock: WallClock;
  readonly #folder: string;
  readonly #messages: SentMessage[] = [];
  readonly #events: Event[] = [];
  readonly #unlisten: () => void;
  #edition = 0;
  #contentId = "";
  #imageIdentifier = "none";
  /** What went out before its turn. */
  #overlap: string | undefined;
  /** How many ends the flow had seen before this sequence. */
  #endsBefore = 0;
  #sentBefore = 0;

  constructor({ flow, sim, clock, folder }: ScenarioEnvironment) {
    this.#flow = flow;
    this.#sim = sim;
    this.#clock = clock;
    this.#folder = folder;
    this.#unlisten = sim.onRequest((request) => {
      this.#noteOverlap(request);
      this.#events.push({ request });
    });
  }

  async run(steps: readonly Step[]): Promise<void> {
    const { newer, faults: rules, cloud } = this.#sim;
    newer.setPower(true);
    this.#sim.reset();
    try {
      await this.#deploy("full");
      const medium = { contentType: "image/jpeg", bytes: Buffer.from("ffd8fffe0003aaffd9", "hex") };
      this.#contentId = cloud.addMedia(transactionId, medium).contentId;
      this.#endsBefore = this.#flow.ends.length;
      this.#sentBefore = this.#flow.sent.length;
      for (const step of steps) {
        await this.#do(step);
      }
      await this.#settle();
      // Every message has ended. A deploy brings out whatever is still on its way, before everything is checked once more.
      await this.#deploy("full");
      await this.#settle();
      await this.#assertFiles();
    } finally {
      rules.clear();
      newer.setPower(true);
      this.#clock.reset();
      this.#unlisten();
    }
  }

  async #do(step: Step): Promise<void> {
    const { newer } = this.#sim;
    switch (step.do) {
      case "send":
        this.#send(step.to);
        break;
      case "settle":
        await this.#settle();
        break;
      case "wait":
        await delay(step.ms);
        break;
      case "reset":
        await this.#reset(step.node);
        break;
      case "redeploy":
        await this.#deploy(step.what === "everything" ? "full" : "nodes");
        break;
      case "mode":
        newer.setMode(step.mode);
        this.#note((state) => ({ ...state, devices: setMode(state.devices, step.mode) }));
        break;
      case "table":
        newer.setParcel(step.isEmpty ? null : "shoe-box");
        this.#note((state) => ({ ...state, devices: { ...state.devices, isTableEmpty: step.isEmpty } }));
        break;
      case "power":
        if (newer.powered === step.on) {
          break;
        }
        newer.setPower(step.on);
        this.#note((state) => ({ isOn: step.on, devices: losePower(state.devices) }));
        break;
      case "fault":
        this.#sim.faults.add({ name: step.name, surface: step.surface, fault: faults[step.name] });
        break;
      case "clock":
        this.#clock.jump(step.jumpMs);
        break;
    }
    // Until a message has read its values, it has no place in a queue.
    await turn();
  }

  /** One command at a time: an earlier one of the same queue has been answered, or its sender has given it up. */
  #noteOverlap({ path }: RequestRecord): void {
    const queue = queueOf(path);
    if (queue === undefined) {
      return;
    }
    const asked = this.#events.flatMap((event) => ("request" in event ? [event.request] : []));
    const unanswered = asked.filter(
      (one) => queueOf(one.path) === queue && one.statusCode === undefined && one.tookMs === undefined,
    );
    const givenUp = this.#messages.filter(
      ({ to, ended }) => routes[to]?.queue === queue && ended?.error?.cause.outcome === "unknown",
    );
    if (unanswered.length > givenUp.length) {
      this.#overlap ??= `${path} went out while another command was under way`;
    }
  }

  #note(change: Extract<Event, { change: unknown }>["change"]): void {
    this.#events.push({ change });
  }

  #send(to: NodeName): void {
    const id = `message-${this.#sentBefore}-${this.#messages.length}`;
    const reference = `parcel-${this.#messages.length}`;
    const message: SentMessage = {
      id,
      to,
      reference,
      sentAt: performance.now(),
      endedAt: 0,
      mayBeCancelled: false,
    };
    this.#messages.push(message);
    const msg = {
      _msgid: id,
      transactionReference: reference,
      imageIdentifier: this.#imageIdentifier,
      transactionId,
      payload: { contentId: this.#contentId },
      untouched: reference,
    };
    const noteEnd = (end: End): void => {
      message.ended = end;
      message.endedAt = performance.now();
      if (end.error === undefined && to.startsWith("measure")) {
        this.#imageIdentifier = msg.imageIdentifier;
      }
    };
    void this.#flow.start(idOf(to), msg).then(noteEnd);
  }

  async #reset(node: NodeName): Promise<void> {
    for (const one of this.#open()) {
      if (one.to === node) {
        one.mayBeCancelled = true;
      }
    }
    const { sent, error } = await this.#flow.run(idOf(node), { reset: true });
    assert.equal(error, undefined);
    assert.ok(
      sent.every(({ msg }) => msg["reset"] !== true),
      "a reset went on",
    );
  }

  async #deploy(type: "full" | "nodes"): Promise<void> {
    this.#edition += 1;
    const old = this.#open().filter(({ to }) => type === "full" || to === "measure");
    for (const one of old) {
      one.mayBeCancelled = true;
      this.#flow.node(idOf(one.to)).on("close", () => {
        one.sentAtClose ??= this.#flow.sent.length - this.#sentBefore;
      });
    }
    const flow = flowOf(this.#sim, this.#folder, this.#edition);
    await this.#flow.deploy(flow, { cloud: { token: this.#sim.cloud.token } }, type);
    for (const one of old) {
      assert.ok(one.ended !== undefined, `${one.to} is closed, and ${one.reference} has not ended`);
    }
  }

  #open(): SentMessage[] {
    return this.#messages.filter(({ ended }) => ended === undefined);
  }

  /** Waits until every message has ended, and asserts everything that has to hold. */
  async #settle(): Promise<void> {
    const until = performance.now() + timeoutMs * (this.#open().length + 1) + patienceMs;
    while (this.#open().length > 0) {
      assert.ok(
        performance.now() < until,
        `no end: ${this.#open()
          .map(({ to }) => to)
          .join(", ")}`,
      );
      await delay(2);
    }
    await this.#arrived();
    assert.equal(this.#overlap, undefined, this.#overlap);
    const seen = {
      ends: this.#flow.ends.slice(this.#endsBefore),
      sent: this.#flow.sent.slice(this.#sentBefore),
    };
    for (const one of this.#messages) {
      assertEnd(one, seen);
    }
    const commands = this.#messages.flatMap((one): Command[] => {
      const told = one.ended?.error === undefined ? "success" : one.ended.error.cause.outcome;
      return routes[one.to] === undefined || told === null
        ? []
        : [{ to: one.to, reference: one.reference, told }];
    });
    const overtakes = this.#messages.some(({ to }) => to === "video");
    compareWithModel(this.#sim, this.#events, commands, overtakes);
  }

  /** What was on its way when its sender gave up has arrived before what was sent later has. */
  async #arrived(): Promise<void> {
    const { newer, earlier, cloud } = this.#sim;
    for (let round = 0; round < 2; round += 1) {
      // An answer is not needed, nor that there is one: it may be off, or a fault may strike here.
      await Promise.all([newer, earlier, cloud].map(({ port }) => connectAndClose(port)));
    }
    await Promise.all(this.#sim.requests.map((request) => this.#sim.settled(request)));
  }

  async #assertFiles(): Promise<void> {
    const names = await readdir(this.#folder);
    assert.deepEqual(
      names.filter((name) => name.startsWith(".")),
      [],
      "unfinished files are left",
    );
    for (const name of names.filter((one) => one.endsWith(".jpg"))) {
      const content = await readFile(join(this.#folder, name), "hex");
      assert.equal(content, "ffd8fffe0003aaffd9", `${name} is not whole`);
    }
  }
}

function queueOf(path: string): CommandRoute["queue"] | undefined {
  return Object.values(routes).find((route) => route.path === path)?.queue;
}
