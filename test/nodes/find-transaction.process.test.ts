import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator } from "../../src/simulator/index.ts";
import { readPackages, until } from "../archive/support.ts";
import { nodeRedMajor, startNodeRed } from "../support/node-red.ts";
import { storeNode } from "../support/store-node.ts";

const at = { z: "tab", x: 100, y: 100 };

describe(`the transaction of a local measurement, in a Node-RED ${nodeRedMajor} that is killed`, () => {
  it("is found when its record comes after the next start", async () => {
    const folder = await mkdtemp(join(tmpdir(), "find-restart-"));
    const [root, userDir] = [join(folder, "archive"), join(folder, "user")];
    await Promise.all([mkdir(root), mkdir(userDir)]);
    const sim = await startSimulator();
    const closers: (() => Promise<unknown>)[] = [];
    const flows = [
      { id: "tab", type: "tab", label: "one parcel" },
      { id: "device", type: "dimensioner-device", name: "Dock 4", address: sim.newer.origin },
      {
        id: "cloud",
        type: "dimensioner-cloud",
        baseUrl: sim.cloud.origin,
        credentials: { token: sim.cloud.token },
      },
      storeNode(root, "store"),
      { ...at, id: "in", type: "http in", url: "/scan", method: "post", wires: [["reference"]] },
      {
        ...at,
        id: "reference",
        type: "change",
        rules: [{ t: "move", p: "payload.code", pt: "msg", to: "transactionReference", tot: "msg" }],
        wires: [["measure", "answer"]],
      },
      { ...at, id: "answer", type: "http response", wires: [] },
      {
        ...at,
        id: "measure",
        type: "dimensioner-measure",
        device: "device",
        tag: "customReference1",
        wires: [["archive"]],
      },
      {
        ...at,
        id: "archive",
        type: "dimensioner-archive",
        cloud: "cloud",
        store: "store",
        settle: 0,
        wires: [["debug"]],
      },
      { ...at, id: "debug", type: "debug", active: true, console: true, complete: "true", wires: [] },
      {
        ...at,
        id: "records",
        type: "dimensioner-transaction-in",
        path: "hook",
        secretIn: "none",
        store: "store",
        wires: [[]],
      },
    ];
    try {
      const first = await startNodeRed({ major: nodeRedMajor, userDir, flows });
      closers.push(() => first.stop());
      // The device's pictures are fetched when the job has been accepted.
      const fetched = sim.nextRequest(({ path }) => path.includes("/image/"));
      const headers = { "content-type": "application/json" };
      await first.adminFetch("/scan", { method: "POST", headers, body: '{"code":"ORDER-1"}' });
      await fetched;
      await first.kill();

      const second = await startNodeRed({ major: nodeRedMajor, userDir });
      closers.push(() => second.stop());
      const [transaction] = sim.cloud.transactions;
      assert.ok(transaction?.measurement?.object);
      const { guid, legacyId, transactionReference, customReference1, measurement } = transaction;
      const { length, width, height } = transaction.measurement.object;
      const record = {
        id: guid,
        errorCode: 0,
        legacyId,
        transactionReference,
        customReference1,
        measurementUnitOfMeasureCd: measurement?.dimsUnit,
        length,
        width,
        height,
      };
      await second.adminFetch("/hook", { method: "POST", headers, body: JSON.stringify(record) });
      await until(async () => (await readPackages(root)).size === 1, "the package is there");
      const [manifest] = (await readPackages(root)).values();
      assert.deepEqual([manifest?.transactionId, manifest?.complete], [guid, true]);
    } finally {
      for (const close of closers.toReversed()) {
        await close();
      }
      await sim.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  });
});
