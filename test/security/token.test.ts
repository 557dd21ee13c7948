import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { actionNodes } from "../nodes/action-nodes.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";
import { closesAfterEach } from "../support/opened.ts";
import { closedPort, startServer } from "../support/servers.ts";
import { identity } from "../support/tls.ts";
import { echoResponses, startEchoServer } from "./echo-server.ts";
import { SecretFinder } from "./secret-finder.ts";
import { storeNode } from "../support/store-node.ts";

/** Of characters that every encoding writes in its own way. */
const token = `Tk-7"f/+%&=\\<e>'9z~Q8wX`;
const finder = new SecretFinder([token]);

const everything = (value: unknown): string =>
  inspect(value, {
    depth: Infinity,
    showHidden: true,
    maxStringLength: null,
    maxArrayLength: null,
    getters: true,
  });

describe("the token", () => {
  const opened = closesAfterEach();

  it("is found by this test in every spelling", () => {
    const basic = (text: string): string => Buffer.from(text).toString("base64");
    for (const text of [
      `x${token}y`,
      JSON.stringify({ a: [token] }),
      JSON.stringify(JSON.stringify({ token })),
      everything({ deep: { er: { still: { more: new Error(`Bearer ${token}`) } } } }),
      `https://cloud/?t=${encodeURIComponent(token)}`,
      ...["", "u", "us", "user:"].map((user) => basic(`${user}${token}more`)),
      `Authorization: Bearer ${token.slice(0, 9)}\r\n ${token.slice(9)}`,
      Buffer.from(token).toString("hex").toUpperCase(),
      `\x1b[32m${token.slice(0, 5)}\x1b[39m${token.slice(5)}`,
    ]) {
      assert.ok(finder.find(text) !== undefined, text);
    }
    assert.equal(finder.find("nothing of the kind"), undefined);
  });

  it("is in no message, no error with all that hangs on it, and no status, whatever a cloud does", () =>
    withFolder(async (folder) => {
      const sim = opened(await startSimulator({ token }));
      const echo = opened(await startEchoServer());
      const tls = opened(await startServer(() => undefined, { tls: identity("self-signed") }));
      const hanging = opened(await startServer(() => undefined));
      const clouds: Readonly<Record<string, string>> = {
        good: sim.cloud.origin,
        echo: echo.origin,
        tls: tls.origin,
        hanging: hanging.origin,
        nobody: `http://127.0.0.1:${closedPort}`,
        wrong: "ftp://nowhere",
        "one-that-has-the-token-in-it": `http://127.0.0.1/?t=${encodeURIComponent("x")}`,
      };
      const cases = actionNodes.filter(({ uses }) => uses === "cloud");
      const nodes = Object.keys(clouds).flatMap((cloud) => [
        ...cases.map(({ type, properties }, index) => ({
          ...properties,
          id: `${cloud}-${index}`,
          z: "tab",
          type,
          cloud: `to-${cloud}`,
        })),
        // With the cloud's media, and with those of the message alone.
        ...(["all", "none"] as const).map((media) => ({
          id: `${cloud}-archive-${media}`,
          z: "tab",
          type: "dimensioner-archive",
          cloud: `to-${cloud}`,
          store: "store",
          media,
          wait: 0,
          settle: 0,
          giveUp: 0.000_01,
          layout: `${cloud}/${media}/{transactionId}`,
        })),
      ]);
      const configs: FlowNode[] = Object.entries(clouds).map(([name, baseUrl]) => ({
        id: `to-${name}`,
        type: "dimensioner-cloud",
        baseUrl,
        // Only where nobody answers, so that the others have the time that they need.
        timeout: ["echo", "hanging"].includes(name) ? 0.5 : 60,
        checkInterval: 1,
      }));
      const credentials = Object.fromEntries(configs.map(({ id }) => [id, { token }]));
      const flow = await TestFlow.start(
        [
          ...configs,
          storeNode(folder, "store"),
          { id: "device", type: "dimensioner-device", address: sim.newer.origin },
          ...nodes,
        ],
        credentials,
      );
      const seen: unknown[] = [];
      try {
        for (const { id } of nodes) {
          const [cloud = "", index = ""] = id.split(/-(?=\d|archive)/);
          const example = cases[Number(index)];
          const times = cloud === "echo" && example !== undefined ? echoResponses : 1;
          for (let time = 0; time < times; time++) {
            const given = (await example?.message(sim)) ?? {
              transactionId: "905865",
              payload: Buffer.from("ffd8ffd9", "hex"),
            };
            const msg = { ...given };
            const { error, sent } = await flow.run(id, msg);
            seen.push(msg, error, sent, error?.cause, error?.stack, JSON.stringify(error), String(error));
            if (cloud !== "good" && cloud !== "echo") {
              // A job that asks no cloud needs none that answers, but an address that can be one.
              const succeeds = index === "archive-none" && ["tls", "hanging", "nobody"].includes(cloud);
              assert.equal(error === undefined, succeeds, `${id}: ${error?.message}`);
            }
          }
        }
        seen.push(flow.shown);
        for (const one of seen) {
          const text = everything(one);
          assert.equal(finder.find(text), undefined, text.slice(0, 3000));
        }
        for (const surface of ["newer", "earlier"] as const) {
          assert.equal(finder.find(everything(sim.requestsTo(surface))), undefined, surface);
        }
        assert.equal(finder.find(everything(tls.requests)), undefined);
      } finally {
        await flow.stop();
      }
      const names = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = names.filter((one) => one.isFile());
      assert.ok(files.some(({ name }) => name === "manifest.json"));
      for (const file of files) {
        const path = join(file.parentPath, file.name);
        assert.equal(finder.find(`${path} ${await readFile(path, "latin1")}`), undefined, path);
      }
    }));
});
