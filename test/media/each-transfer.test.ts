import assert from "node:assert/strict";
import { buffer } from "node:stream/consumers";
import { readToBuffer } from "../../src/media/read-to-buffer.ts";
import { eachTransfer } from "../../src/media/save-to-file.ts";
import { facts, failing, sending } from "./support.ts";

const picture = Buffer.from("ffd8ffe000104a46494600010100000100010000ffd9", "hex");

describe("what is asked at each transfer of a download", () => {
  it("is asked when it begins and when it begins again, before any byte is read", async () => {
    const told: string[] = [];
    const whose = ["A", "B", "C"];
    const error = new Error("The connection broke.");
    const twice = failing([picture.subarray(0, 4)], error, failing([], error, sending([picture])));
    const start = async () => eachTransfer(await twice(), () => told.push(whose.shift() ?? ""));
    const { payload } = await readToBuffer(start, facts);
    assert.deepEqual(payload, picture);
    assert.deepEqual(told, ["A", "B", "C"]);
  });

  it("can end the transfer, at its beginning or when it begins again", async () => {
    const refused = new Error("It is another's.");
    const first = await sending([picture])();
    const refuse = (): never => {
      throw refused;
    };
    assert.throws(() => eachTransfer(first, refuse), refused);
    assert.equal(first.body.destroyed, true);
    const second = await sending([picture])();
    let count = 0;
    const broken = failing([], new Error("The connection broke."), () => Promise.resolve(second));
    const download = eachTransfer(await broken(), () => {
      count += 1;
      if (count === 2) {
        refuse();
      }
    });
    await assert.rejects(buffer(download.body), /The connection broke/);
    await assert.rejects(download.restart(), refused);
    assert.equal(second.body.destroyed, true);
  });
});
