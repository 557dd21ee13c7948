import { nodeRedMajor } from "../support/node-red.ts";
import { useWhileHung } from "./hung-node-red.ts";

describe(`A8: a Node-RED ${nodeRedMajor} with archives on a disk that hangs`, () => {
  before(function () {
    if (process.platform === "win32") {
      this.skip();
    }
  });

  // A store that cannot be opened, a job that hangs in the middle, and no thread left; each other call in test/long/hung-disk.ts.
  for (const [call, count] of [
    ["stat", 1],
    ["file.sync", 1],
    ["stat", 6],
  ] as const) {
    it(`measures by host name, and deploys in time, with ${count} of which ${call} hangs`, async () => {
      await useWhileHung(nodeRedMajor, call, count);
    });
  }
});
