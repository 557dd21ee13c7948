import { fillArchive } from "../archive/packages.ts";
import assert from "node:assert/strict";
import { withFolder } from "../media/support.ts";
import { assertGuarded, withPage } from "./support.ts";

/** As they were built: the other guards are tested without them. */
describe("the files of the evidence page itself", () => {
  it("are for everybody, because they contain no evidence", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      await withPage(root, { by: "logins", logins: [] }, async ({ ask }) => {
        for (const path of ["", "page.js", "page.css", "icon.svg", "api/texts"]) {
          const response = await ask(path);
          assert.equal(response.status, 200, path);
          assertGuarded(response);
        }
      });
    }));
});
