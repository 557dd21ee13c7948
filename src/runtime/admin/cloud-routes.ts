import type { NodeAPI } from "node-red";
import * as v from "valibot";
import { CloudClient, type CloudClientOptions } from "../../cloud/client.ts";
import { readBaseUrl } from "../../rules/addresses.ts";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import {
  answerWith,
  environmentName,
  fieldNumber,
  fieldText,
  readBody,
  readEnvironment,
  sayError,
} from "./admin-route.ts";
import { line, serveConnectionTest, type TestLine } from "./connection-test.ts";
import { chooseProxy } from "../config/proxy.ts";
import type { NumberProperty } from "../../saved/properties.ts";
import { SettingsReader } from "../config/settings.ts";
import { registrationCodeProblem } from "../../rules/names.ts";
import { readTls } from "../config/tls.ts";

const asked = v.object({
  id: fieldText,
  z: fieldText,
  baseUrl: fieldText,
  allowHttp: v.boolean(),
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

/** What stands in a dialog's password field while nobody has typed into it. */
const untouched = "__PWRD__";
/** Nobody looks at a button for longer. */
const longestTestMs = 10_000;
/** As many names as are worth reading in a dialog. */
const mostNames = 20;
const longestName = 200;

/** The routes of the cloud's config node: Test connection, and the devices to choose from. No token leaves by them. */
export function serveCloudRoutes(RED: NodeAPI, timeout: NumberProperty): void {
  serveConnectionTest(RED, "dimensioner-cloud", async (request, signal) => {
    const options = readOptions(RED, readBody(asked, request), timeout);
    if (options === "tokenAnew") {
      return [line("bad", options)];
    }
    const client = new CloudClient(options);
    try {
      return [await testCloud(client, signal)];
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
          .map(({ name, registrationCode, lastHeartbeatUtc }) => ({
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
  // A cloud without a list of devices: a list of media that nobody has changes nothing either, and wants the token too.
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
    return line("unsure", "cloudUnsure", { host });
  }
}

/**
 * The dialog's values as a client takes them. The stored token, and one from an environment variable, go only where the
 * deployed node sends them, and by the same way: whoever may test must not get to see them at an address of their own.
 */
function readOptions(
  RED: NodeAPI,
  given: v.InferOutput<typeof asked>,
  timeout: NumberProperty,
): CloudClientOptions | "tokenAnew" {
  const settings = new SettingsReader("cloud");
  const resolved = readEnvironment(RED, given, settings);
  const { allowHttp, tls, proxy } = given;
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

/** An answer that is neither the cloud's nor a web page, which has a sentence of its own. */
function isOtherJson(error: unknown): boolean {
  return (
    isDimensionerError(error) &&
    ["responseShape", "responseNotJson", "responseEmpty"].includes(error.sentence)
  );
}

function isUnknown(error: unknown): boolean {
  return isDimensionerError(error) && error.code === "ERR_NOT_FOUND";
}
