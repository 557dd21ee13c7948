import { connect } from "node:net";
import type { NodeAPI } from "node-red";
import * as v from "valibot";
import { DeviceClient } from "../../device/client.ts";
import type { Generation } from "../../device/generations.ts";
import { connectProblem } from "../../errors/connect-problem.ts";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { Values } from "../../errors/interpolation.ts";
import type { SentenceKey } from "../../errors/sentences.ts";
import { connectSentence } from "../../http/failures.ts";
import type { ChoiceProperty, NumberProperty } from "../../properties/property-table.ts";
import { checkEcho } from "../config/health.ts";
import { SettingsReader } from "../config/settings.ts";
import {
  type TestLine,
  clockLines,
  fieldNumber,
  fieldText,
  line,
  readBody,
  readEnvironment,
  serveConnectionTest,
} from "./admin-route.ts";

const requestSchema = v.object({
  id: fieldText,
  z: fieldText,
  address: fieldText,
  generation: fieldText,
  timeout: fieldNumber,
});

/** Nobody waits longer for a button. */
const longestTestMs = 10_000;

/** The properties of a device that the test needs besides the address. */
interface TestedProperties {
  readonly generation: ChoiceProperty & { readonly of: readonly Generation[] };
  readonly timeout: NumberProperty & { readonly of: "timeout" };
}

/** The route of Test connection: it only pings, and never measures. */
export function serveDeviceTest(RED: NodeAPI, table: TestedProperties): void {
  const settings = new SettingsReader("device");
  serveConnectionTest(RED, "dimensioner-device", async (request, signal) => {
    const { id, z, ...given } = readBody(requestSchema, request);
    const resolved = readEnvironment(RED, { id, z }, settings);
    const { generation, timeoutMs } = settings.read(
      { generation: table.generation, timeout: table.timeout },
      {
        version: 1,
        generation: resolved("generation", given.generation) as Generation,
        timeout: resolved("timeout", String(given.timeout)),
      },
    );
    const test = {
      address: resolved("address", given.address),
      generation,
      until: performance.now() + Math.min(timeoutMs, longestTestMs),
      signal,
    };
    return await testDevice(test);
  });
}

interface Test {
  readonly address: string;
  readonly generation: Generation;
  /** The end of the test, in `performance.now()`. */
  readonly until: number;
  readonly signal: AbortSignal;
}

/** Errors that say what is there instead of a device, or what is wrong with its answer. */
const tellingSentences: ReadonlySet<SentenceKey> = new Set([
  "responseBroken",
  "responseFaulty",
  "responseHtml",
  "responseOnlyTls",
  "responseXml",
]);

async function testDevice(test: Test): Promise<readonly TestLine[]> {
  const { generation } = test;
  if (generation === "gateway") {
    return [await openConnection(test)];
  }
  const chosen = await ping(test);
  if (chosen.isDevice) {
    const answer = answerOf("good", generation === "newer" ? "isNewer" : "isEarlier", chosen);
    return [answer, ...chosen.clock];
  }
  // Distinguishes a device that is set to the wrong generation from another kind of server.
  const other = await ping({ ...test, generation: generation === "newer" ? "earlier" : "newer" });
  if (other.isDevice) {
    return [answerOf("bad", generation === "newer" ? "butEarlier" : "butNewer", other)];
  }
  if (chosen.error !== undefined && tellingSentences.has(chosen.error.sentence)) {
    throw chosen.error;
  }
  return [answerOf("bad", "noDevice", chosen)];
}

function answerOf(state: TestLine["state"], key: string, { host, ms }: Ping): TestLine {
  return line(state, key, { host, ms });
}

interface Ping {
  readonly host: string;
  readonly ms: number;
  /** Whether a device of this generation responded. */
  readonly isDevice: boolean;
  /** What is to be known of the device's clock. */
  readonly clock: readonly TestLine[];
  /** The error of another response. */
  readonly error?: DimensionerError;
}

async function ping(test: Test): Promise<Ping> {
  const client = clientOf(test);
  const { host } = client.peer;
  const since = performance.now();
  try {
    await checkEcho(client, test.signal);
    const ms = Math.max(1, Math.round(performance.now() - since));
    return { host, ms, isDevice: true, clock: clockLines(host, client.clock) };
  } catch (error) {
    if (isDimensionerError(error) && ["ERR_NOT_FOUND", "ERR_BAD_RESPONSE"].includes(error.code)) {
      return { host, ms: 0, isDevice: false, clock: [], error };
    }
    throw error;
  } finally {
    await client.close();
  }
}

/** A gateway has no known ping, and its only request measures: the test can only see that something listens. */
async function openConnection(test: Test): Promise<TestLine> {
  const { peer } = clientOf(test);
  const { hostname, port, protocol } = new URL(peer.origin);
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (protocol === "https:" ? 443 : 80),
    timeout: Math.max(1, test.until - performance.now()),
    signal: test.signal,
  });
  const seconds = Math.round(Math.max(1, test.until - performance.now()) / 100) / 10;
  try {
    await new Promise<void>((resolve, reject) => {
      const fail = (sentence: SentenceKey, values: Values = {}): void => {
        const facts = { surface: peer.surface, operation: "ping" };
        reject(new DimensionerError(sentence, facts, { host: peer.host, seconds, ...values }));
      };
      socket.once("connect", resolve);
      socket.once("timeout", () => fail("unreachableSilent"));
      socket.once("error", (error) => {
        fail(connectSentence(peer, error), { problem: connectProblem(error) });
      });
    });
  } finally {
    socket.destroy();
  }
  return line("warning", "gateway", { host: peer.host });
}

function clientOf({ address, generation, until }: Test): DeviceClient {
  return new DeviceClient({ address, generation, timeoutMs: Math.max(1, until - performance.now()) });
}
