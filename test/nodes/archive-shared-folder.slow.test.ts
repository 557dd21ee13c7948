import { nodeRedMajor } from "../support/node-red.ts";
import { archiveTogether } from "./shared-folder.ts";

/** 200 take too long for each change: test/long/shared-folder.ts */
const transactions = 40;
const otherMajor = nodeRedMajor === 4 ? 5 : 4;

describe("archive: three Node-REDs, each with a store of its own, in one folder", () => {
  it(`make one whole package of each of the same ${transactions} transactions`, async () => {
    await archiveTogether([nodeRedMajor, nodeRedMajor, otherMajor], transactions);
  });
});
