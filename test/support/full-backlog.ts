import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A port whose queue of connections is full: the next one is neither refused nor answered. */
export async function startFullBacklog(): Promise<{ port: number; close(): Promise<void> }> {
  // In a process that never accepts: Node.js accepts whatever comes.
  const script = `
    const net = require("node:net");
    const server = net.createServer();
    server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
      process.send(server.address().port, () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
        process.exit();
      });
    });`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [port] = (await once(child, "message")) as [number];
  const fillers: Socket[] = [];
  // Two or three are taken by the kernel; the first that is not has found the queue full.
  for (let isFull = false; !isFull;) {
    const filler = connect(port, "127.0.0.1");
    filler.on("error", () => undefined);
    fillers.push(filler);
    isFull = await new Promise<boolean>((resolve) => {
      // A look at the sockets after the timer: on a busy machine it can be due while a connection waits to be noticed.
      const timer = setTimeout(() => setImmediate(() => setImmediate(() => resolve(filler.connecting))), 100);
      filler.once("connect", () => {
        clearTimeout(timer);
        resolve(false);
      });
    });
  }
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        fillers.forEach((filler) => filler.destroy());
        child.once("exit", () => resolve());
        child.kill("SIGKILL");
      }),
  };
}
