import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { type StoreNode, filesOf, storeOf } from "../../src/runtime/store/store-choice.ts";
import { vaultName } from "../../src/vault/store.ts";
import { TestFlow } from "../support/flow.ts";

const operation = { operation: "archive", surface: "disk", acts: false } as const;

describe("the folder of a store", () => {
  const read = async (properties: object): Promise<string> => {
    const flow = await TestFlow.start([
      { id: "tab-of-store", type: "tab", env: [{ name: "SHARE", value: "/mnt/share", type: "str" }] },
      { id: "store", z: "tab-of-store", type: "dimensioner-store", ...properties },
    ]);
    try {
      const RED = { nodes: { getNode: (id: string) => flow.node(id) } };
      return vaultName(filesOf(storeOf(RED as never, "store", operation), operation));
    } catch (error) {
      assert.ok(isDimensionerError(error));
      assert.equal(error.code, "ERR_CONFIG");
      return error.message;
    } finally {
      await flow.stop();
    }
  };

  it("is what the settings name, whether it is there or not", async () => {
    assert.equal(await read({ folder: tmpdir(), folderType: "str" }), tmpdir());
    assert.equal(await read({ folder: "/not/mounted", folderType: "str" }), "/not/mounted");
    assert.equal(await read({ folder: "${SHARE}", folderType: "str" }), "/mnt/share");
  });

  it("can come from an environment variable, alone or as a part of it", async () => {
    assert.equal(await read({ folder: "SHARE", folderType: "env" }), "/mnt/share");
    assert.equal(await read({ folder: "${SHARE}/evidence", folderType: "env" }), "/mnt/share/evidence");
  });

  it("is an error where the variable is not set, also where the rest would still be a path", async () => {
    const unset = /“folder” is not valid: the environment variable NOT_SET is not set\./;
    assert.match(await read({ folder: "NOT_SET", folderType: "env" }), unset);
    assert.match(await read({ folder: "${NOT_SET}/evidence", folderType: "env" }), unset);
  });

  it("is an error where it is blank or comes from elsewhere, and the store can be used nevertheless", async () => {
    for (const properties of [{}, { folder: "" }, { folder: "  " }, { folder: null }]) {
      assert.match(await read(properties), /^The folder to save files in is missing/);
    }
    assert.match(await read({ folder: "x", folderType: "msg" }), /“msg” is not a valid choice/);
  });
});

describe("the spool limit of a store", () => {
  it("is in GB, 64 unless it is set, and has to be above 0", async () => {
    const settings = [{}, { spoolLimit: "0.5" }, { spoolLimit: "${SPOOL}" }, { spoolLimit: 0 }];
    const env = [{ name: "SPOOL", value: "500", type: "str" }];
    const flow = await TestFlow.start([
      { id: "tab-of-store", type: "tab", env },
      ...settings.map((one, index) => {
        return { id: `store-${index}`, z: "tab-of-store", type: "dimensioner-store", folder: "/s", ...one };
      }),
    ]);
    try {
      const bytes = settings.map((_, index) => {
        const { access } = flow.node(`store-${index}`) as StoreNode;
        return "problem" in access ? access.problem.message : access.store.spoolBytes;
      });
      assert.deepEqual(bytes.slice(0, 3), [64e9, 0.5e9, 500e9]);
      assert.match(String(bytes[3]), /“spoolLimit” is not valid/);
    } finally {
      await flow.stop();
    }
  });
});
