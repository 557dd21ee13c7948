import { connect } from "node:net";

/** Connects and hangs up; resolves when the other side has noticed, or when nobody is there. */
export function connectAndClose(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.end());
    socket.resume();
    socket.on("error", () => undefined);
    socket.once("close", () => resolve());
  });
}
