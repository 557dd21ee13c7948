import { randomUUID } from "node:crypto";
import type { DeviceClient } from "../../device/client.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";

/**
 * Pings a device, which echoes a random word that no other server would return by chance. Throws ERR_BAD_RESPONSE for
 * another echo, and the errors of the ping.
 */
export async function checkEcho(client: DeviceClient, signal: AbortSignal): Promise<void> {
  const word = randomUUID();
  const { msg } = await client.ping(word, { signal });
  if (msg !== word) {
    const { surface, host } = client.peer;
    const problem = phrase("fieldForm", { name: "msg" });
    throw new DimensionerError("responseShape", { surface, operation: "ping" }, { host, problem });
  }
}
