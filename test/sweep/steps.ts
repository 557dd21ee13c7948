import { AsyncLocalStorage, createHook, type AsyncHook } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { PointCounter } from "./fault-points.ts";

/** Watches what a run does that cannot be seen from outside: its asynchronous steps, its timers and its sockets. */
export class Steps {
  readonly sockets: Socket[] = [];
  /** The ports from which and to which sockets were connected. */
  readonly connections: { readonly from: number; readonly to: number }[] = [];
  readonly #steps: PointCounter;
  readonly #timers: PointCounter;
  readonly #onStep: () => void;
  #isOver = false;

  /** `onStep` is called right after the chosen step, in the same turn of the event loop. */
  constructor({ step = 0, timer = 0, onStep }: { step?: number; timer?: number; onStep: () => void }) {
    this.#steps = new PointCounter(step);
    this.#timers = new PointCounter(timer);
    this.#onStep = onStep;
  }

  get counts(): { steps: number; timers: number } {
    return { steps: this.#steps.passed, timers: this.#timers.passed };
  }

  /** Bytes that were written to sockets so far. */
  get bytesWritten(): number {
    return this.sockets.reduce((sum, socket) => sum + socket.bytesWritten, 0);
  }

  /** To be called when the operation has ended: what follows is its cleanup. */
  end(): void {
    this.#isOver = true;
  }

  watch(socket: Socket): void {
    this.sockets.push(socket);
    socket.once("connect", () => {
      this.connections.push({ from: socket.localPort ?? 0, to: socket.remotePort ?? 0 });
    });
  }

  pass(type: string, resource: object): void {
    if (this.#isOver) {
      return;
    }
    // Node.js reads this right after the hook: the timer fires with the next turn.
    if (type === "Timeout" && this.#timers.pass(type)) {
      Reflect.set(resource, "_idleTimeout", 1);
    }
    if (this.#steps.pass(type)) {
      queueMicrotask(this.#onStep);
    }
  }
}

/** Watches the runs that are started through it, several at a time, as long as it is open. */
export class StepWatch {
  readonly #runs = new AsyncLocalStorage<Steps>();
  readonly #hook: AsyncHook;
  readonly #onSocket = (message: unknown): void => {
    if (typeof message !== "object" || message === null || !("socket" in message)) {
      return;
    }
    if (message.socket instanceof Socket) {
      this.#runs.getStore()?.watch(message.socket);
    }
  };

  constructor() {
    this.#hook = createHook({
      init: (_id, type, _trigger, resource) => this.#runs.getStore()?.pass(type, resource),
    });
    this.#hook.enable();
    subscribe("net.client.socket", this.#onSocket);
  }

  run<T>(steps: Steps, operation: () => T): T {
    return this.#runs.run(steps, operation);
  }

  close(): void {
    this.#hook.disable();
    unsubscribe("net.client.socket", this.#onSocket);
  }
}
