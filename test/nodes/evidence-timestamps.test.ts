import assert from "node:assert/strict";
import { once, EventEmitter } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { CheckpointMessage } from "../../src/index.ts";
import type { TimestampResult, VerifyResult } from "../../src/model/shapes.ts";
import { pictureOf } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { secret } from "../support/failures.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";
import { storeId, storeNode } from "../support/store-node.ts";
import { useAuthority } from "../vault/timestamp/authority.ts";
import { fixtures } from "../vault/timestamp/fixtures.ts";

const roots = join(fixtures, "root.crt");

describe("dimensioner-evidence: time stamps", () => {
  let flow: TestFlow;
  /** Tells of requests that get no response. */
  const held = new EventEmitter<{ request: [] }>();
  let holds = false;
  const hold = (_response: ServerResponse): boolean => {
    if (holds) {
      held.emit("request");
    }
    return holds;
  };

  const authority = useAuthority({ login: `user:${secret}`, instead: hold });
  afterEach(() => flow.stop());

  const nodesOf = (folder: string, more: object = {}): FlowNode[] => {
    const store = storeId(folder);
    const node = { z: "tab", type: "dimensioner-evidence", store, action: "msg", by: "all", roots, ...more };
    return [
      { ...storeNode(folder), roots },
      {
        id: "archive",
        z: "tab",
        type: "dimensioner-archive",
        store,
        media: "none",
        layout: "{transactionId}",
      },
      { id: "evidence", ...node, server: authority.url, user: "user" },
      // The certificates of the store.
      { id: "one", ...node, by: "transactionId", roots: "" },
      { id: "unset", ...node },
    ];
  };
  const credentials = { evidence: { password: secret } };
  const start = async (folder: string, more: object = {}): Promise<void> => {
    flow = await TestFlow.start(nodesOf(folder, more), credentials);
  };
  const archive = async (transactionId: string): Promise<void> => {
    const payload = pictureOf(`picture of ${transactionId}`);
    const { error } = await flow.run("archive", { transactionId, payload, contentType: "image/jpeg" });
    assert.equal(error, undefined);
  };
  const run = async (action: string, more: Message = {}, id = "evidence") => {
    const { error, sent } = await flow.run(id, { action, ...more });
    return { error, payload: sent[0]?.msg["payload"] };
  };

  it("gets a time stamp with the login of the dialog, and a checkpoint; once for what is new", () =>
    withFolder(async (folder) => {
      await start(folder);
      assert.equal((await run("timestamp")).error?.code, "ERR_NOT_FOUND");
      await archive("1");
      await archive("2");
      const first = (await run("timestamp")).payload as TimestampResult;
      assert.deepEqual([first.packages, first.root, first.alreadyStamped], [2, "Example Root", false]);
      assert.equal(flow.lastStatus("evidence")?.text, "time-stamped");
      const again = (await run("timestamp")).payload as TimestampResult;
      assert.deepEqual(again, { ...first, alreadyStamped: true });
      assert.equal(flow.lastStatus("evidence")?.text, "already time-stamped");
      const kept = await readFile(join(folder, first.location, "checkpoint"), "utf8");
      assert.ok(!(kept + JSON.stringify(flow.sent)).includes(secret));

      const all = (await run("verify")).payload as VerifyResult;
      assert.deepEqual([all.verdict, all.logs.map(({ covered }) => covered)], ["ok", [all.packages]]);
      const one = (await run("verify", { payload: "1" }, "one")).payload as VerifyResult;
      assert.match(
        one.notes[0]?.text ?? "",
        /^the time stamp .* covers this package: .*\(root certificate: “Example Root”\)/,
      );
      const { sent } = await flow.run("evidence", { action: "checkpoint" });
      const { payload, checkpoint } = sent[0]?.msg as CheckpointMessage;
      assert.equal(checkpoint.store, first.store);
      // The line about the time stamp is in it, too.
      assert.equal(checkpoint.logSize, first.logSize + 1);
      assert.equal(
        payload,
        `dimensioner-archive/${first.store}\n${checkpoint.logSize}\n${checkpoint.logRoot}\n`,
      );
      // A status that follows many others is shown a little later.
      await flow.untilStatus("evidence", ({ text }) => text === `checkpoint, lines: ${checkpoint.logSize}`);
      await writeFile(join(folder, first.location, "response.tsr"), "");
      const wrong = (await run("verify")).payload as VerifyResult;
      assert.equal(wrong.verdict, "wrong");
      assert.deepEqual([...new Set(wrong.findings.map(({ kind }) => kind))], ["timestamp"]);
    }));

  it("does not call the archive verified where the signers are not checked", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      await run("timestamp");
      await flow.deploy([storeNode(folder), ...nodesOf(folder, { roots: "" }).slice(1)], credentials);
      const { verdict, findingCount } = (await run("verify")).payload as VerifyResult;
      assert.deepEqual([verdict, findingCount], ["unchecked", 0]);
      const status = flow.lastStatus("evidence");
      assert.deepEqual([status?.text, status?.fill], ["not all checked: 1", "yellow"]);
    }));

  it("says what is missing or wrong: the server, the login, the root certificates", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      const unset = (await run("timestamp", {}, "unset")).error;
      assert.equal(unset?.code, "ERR_CONFIG");
      assert.match(unset.message, /Enter its address in the evidence node/);
      await flow.deploy(nodesOf(folder), { evidence: { password: "other" } });
      const login = (await run("timestamp")).error;
      assert.deepEqual([login?.code, login?.cause.surface], ["ERR_UNAUTHORIZED", "timestamp-server"]);
      assert.match(flow.lastStatus("evidence")?.text ?? "", /^login rejected/);
      await flow.deploy(nodesOf(folder, { roots: join(fixtures, "other-root.crt") }), credentials);
      assert.equal((await run("timestamp")).error?.code, "ERR_BAD_RESPONSE");
      await flow.deploy(nodesOf(folder, { roots: join(folder, "none") }), credentials);
      assert.equal((await run("timestamp")).error?.code, "ERR_CONFIG");
      assert.ok(!(await readdir(join(folder, ".dimensioner-archive"))).includes("timestamps"));
    }));

  it("ends the request when it is deployed, and keeps nothing", () =>
    withFolder(async (folder) => {
      await start(folder);
      await archive("1");
      holds = true;
      try {
        const arrived = once(held, "request");
        const running = run("timestamp");
        await arrived;
        await flow.deploy(nodesOf(folder), credentials);
        assert.equal((await running).error?.code, "ERR_CANCELLED");
      } finally {
        holds = false;
      }
      assert.ok(!(await readdir(join(folder, ".dimensioner-archive"))).includes("timestamps"));
      assert.equal((await run("timestamp")).error, undefined);
    }));
});
