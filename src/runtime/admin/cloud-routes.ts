import type { NodeAPI } from "node-red";
import * as v from "valibot";
import { CloudClient, type CloudClientOptions } from "../../cloud/client.ts";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { NumberProperty } from "../../properties/property-table.ts";
import { readBaseUrl } from "../../rules/addresses.ts";
import { registrationCodeProblem } from "../../rules/names.ts";
import { SettingsReader, chooseProxy, readTls, environmentName } from "../config/settings.ts";
import {
  type TestLine,
  clockLines,
  answerWith,
  fieldFlag,
  fieldNumber,
  fieldText,
  line,
  readBody,
  readEnvironment,
  sayError,
  serveConnectionTest,
  untouched,
} from "./admin-route.ts";

const requestSchema = v.object({
  id: fieldText,
  z: fieldText,
  baseUrl: fieldText,
  allowHttp: fieldFlag,
  timeout: fieldNumber,
  tls: fieldText,
  proxy: fieldText,
  token: fieldText,
});

const deployedCloud = v.object({
  type: v.literal("dimensioner-cloud"),
  credentials: v.object({ token: v.string() }),
  access: v.object({ client: v.instance(CloudClient) }),
});

const invalidCloud = v.object({
  type: v.literal("dimensioner-cloud"),
  access: v.object({ problem: v.instance(DimensionerError) }),
});

/** Nobody waits longer for a button. */
const longestTestMs = 10_000;
/** How many names of devices the dialog shows at most. */
const mostNames = 20;
const longestName = 200;

/**
 * The routes of the cloud's config node: Test connection, and the list of devices to choose from. Their responses never
 * contain a token.
 */
export function serveCloudRoutes(RED: NodeAPI, timeout: NumberProperty): void {
  serveConnectionTest(RED, "dimensioner-cloud", async (request, signal) => {
    const options = readOptions(RED, readBody(requestSchema, request), timeout);
    if (options === "tokenAnew") {
      return [line("bad", options)];
    }
    const client = new CloudClient(options);
    try {
      const tested = await testCloud(client, signal);
      return [tested, ...clockLines(client.peer.host, client.clock)];
    } finally {
      await client.close();
    }
  });
  RED.httpAdmin.get(
    "/dimensioner-cloud/:id/devices",
    RED.auth.needsPermission("dimensioner-cloud.read"),
    answerWith(async (request, signal) => {
      const node: unknown = RED.nodes.getNode(String(request.params["id"]));
      const invalid = v.safeParse(invalidCloud, node);
      if (invalid.success) {
        return { state: "bad", ...sayError(invalid.output.access.problem) };
      }
      const deployed = v.safeParse(deployedCloud, node);
      if (!deployed.success) {
        return { state: "bad", from: "test", key: "notDeployed", values: {} };
      }
      const devices = await deployed.output.access.client.devices({ signal });
      return {
        devices: devices
          .filter(({ registrationCode }) => registrationCodeProblem(registrationCode ?? "") === null)
          .map(({ id, name, registrationCode, lastHeartbeatUtc }) => ({
            id,
            name: (name ?? "").slice(0, longestName),
            registrationCode,
            lastHeartbeatUtc,
          })),
      };
    }),
  );
}

async function testCloud(client: CloudClient, signal: AbortSignal): Promise<TestLine> {
  const { host } = client.peer;
  try {
    const devices = await client.devices({ signal });
    const facts = devices
      .slice(0, mostNames)
      .map(({ name, registrationCode }) => (name ?? registrationCode ?? "?").slice(0, longestName));
    return {
      ...line("good", "cloud", { host, count: devices.length }),
      facts: devices.length > mostNames ? [...facts, "…"] : facts,
    };
  } catch (error) {
    if (isOtherJson(error)) {
      return line("bad", "noCloud", { host });
    }
    if (!isUnknown(error)) {
      throw error;
    }
  }
  // A cloud may have no list of devices. The list of media of an unknown transaction changes nothing either, and
  // requires the token too.
  try {
    await client.listMedia("0", { signal });
    return line("good", "cloudMedia", { host });
  } catch (error) {
    if (isOtherJson(error)) {
      return line("bad", "noCloud", { host });
    }
    if (!isUnknown(error)) {
      throw error;
    }
    return line("warning", "cloudUntested", { host });
  }
}

/**
 * Converts the dialog's values to options of a client. The stored token, and one from an environment variable, are sent
 * only to the address of the deployed node and by its proxy: whoever may test must not be able to read them at another
 * address.
 */
function readOptions(
  RED: NodeAPI,
  given: v.InferOutput<typeof requestSchema>,
  timeout: NumberProperty,
): CloudClientOptions | "tokenAnew" {
  const settings = new SettingsReader("cloud");
  const resolved = readEnvironment(RED, given, settings);
  const { tls, proxy } = given;
  const allowHttp = settings.flag("allowHttp", false, resolved("allowHttp", String(given.allowHttp)));
  const baseUrl = resolved("baseUrl", given.baseUrl);
  const address = readBaseUrl(baseUrl, allowHttp);
  if ("problem" in address) {
    throw settings.invalid("baseUrl", address.problem);
  }
  const { origin } = address;
  const timeoutMs = settings.number("timeout", timeout, resolved("timeout", String(given.timeout)));
  let { token } = given;
  if (token === untouched || environmentName(token) !== undefined) {
    const deployed = findDeployed(RED, given.id);
    const isSameWay = deployed?.origin === origin && deployed.tls === tls && deployed.proxy === proxy;
    if (!isSameWay) {
      return "tokenAnew";
    }
    token = token === untouched ? deployed.token : resolved("token", token);
  }
  return {
    baseUrl,
    allowHttp,
    token,
    timeoutMs: Math.min(timeoutMs, longestTestMs),
    tls: readTls(RED, tls, settings),
    proxyUrl: chooseProxy(RED, proxy, origin, settings),
  };
}

interface Deployed {
  readonly origin: string;
  readonly token: string;
  readonly tls: string;
  readonly proxy: string;
}

function findDeployed(RED: NodeAPI, id: string): Deployed | undefined {
  const node = v.safeParse(deployedCloud, RED.nodes.getNode(id));
  if (!node.success) {
    return undefined;
  }
  const saved = { tls: "", proxy: "" };
  RED.nodes.eachNode((definition) => {
    if (definition.id === id) {
      const way = v.parse(
        v.object({ tls: v.optional(v.string(), ""), proxy: v.optional(v.string(), "") }),
        definition,
      );
      Object.assign(saved, way);
    }
  });
  const { credentials, access } = node.output;
  return { origin: access.client.peer.origin, token: credentials.token, ...saved };
}

/** Whether the response is neither the cloud's nor a web page, for which there is another sentence. */
function isOtherJson(error: unknown): boolean {
  return (
    isDimensionerError(error) &&
    ["responseShape", "responseNotJson", "responseEmpty"].includes(error.sentence)
  );
}

function isUnknown(error: unknown): boolean {
  return isDimensionerError(error) && error.code === "ERR_NOT_FOUND";
}
