import type { Duplex } from "node:stream";
import type { Client, ClientConfig } from "pg";
import { textOfThrown } from "../errors/interpolation.ts";

type Listener = (...given: unknown[]) => void;

/**
 * The client of the driver, so that an answer of the server that the driver cannot read ends the connection. The driver throws it where
 * nothing catches it, which ends the process: a server that asks for a login by GSSAPI or SSPI is enough.
 */
export function guardedClient(DriverClient: typeof Client): typeof Client {
  return class extends DriverClient {
    constructor(config?: string | ClientConfig) {
      super(config);
      const { connection } = this;
      const attach: unknown = Reflect.get(connection, "attachListeners");
      if (typeof attach === "function") {
        const attachGuarded = (stream: Duplex): void => {
          Reflect.apply(attach, connection, [guarded(stream)]);
        };
        Reflect.set(connection, "attachListeners", attachGuarded);
      }
    }
  };
}

/** What the driver listens to of a stream, also of that of TLS. */
function guarded(stream: Duplex): { on(event: string, listener: Listener): void } {
  return {
    on(event, listener) {
      stream.on(event, (...given: unknown[]) => {
        try {
          listener(...given);
        } catch (error) {
          stream.destroy(error instanceof Error ? error : new Error(textOfThrown(error)));
        }
      });
    },
  };
}
