import { packAndInstall, type Packed } from "../package/packed.ts";

let packed: Packed | undefined;

// Hooks of the whole run: the examples run on the package as users install it, with the dependencies that npm has chosen
// for the Node that runs the tests.
before(async () => {
  packed = await packAndInstall();
  process.env["DIMENSIONER_INSTALLED"] = packed.installed;
});

after(async () => {
  delete process.env["DIMENSIONER_INSTALLED"];
  await packed?.remove();
});
