import assert from "node:assert/strict";
import { lstat, mkdir, readdir, symlink } from "node:fs/promises";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { join, sep } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { listAll, withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";
import { storeId, storeNode } from "../support/store-node.ts";
import { controls, hostileIds } from "../support/hostile.ts";

const credentials = { cloud: { token: "simulator" } };
const deviceReference = "ABCD2345";
const transactionId = "905865";

/** An id that becomes part of a request's path: an invalid one is refused before anything is sent. */
interface IdPlace {
  readonly node: FlowNode;
  readonly message: (id: string) => Message;
}

const on = (id: string, type: string, more: object): FlowNode => ({
  id,
  z: "tab",
  type: `dimensioner-${type}`,
  ...more,
});
const idPlaces: Readonly<Record<string, IdPlace>> = {
  ...Object.fromEntries(
    ["annotated", "color", "depth"].map((image): [string, IdPlace] => [
      `imageIdentifier of the ${image} image`,
      {
        node: on(`image-${image}`, "fetch-image", { device: "device", image }),
        message: (imageIdentifier) => ({ imageIdentifier }),
      },
    ]),
  ),
  "transactionId of a list": {
    node: on("list", "media-list", { cloud: "cloud" }),
    message: (id) => ({ transactionId: id }),
  },
  "transactionId of a medium": {
    node: on("medium", "fetch-media", { cloud: "cloud" }),
    message: (id) => ({ transactionId: id, payload: { contentId: "1" } }),
  },
  "contentId of a medium": {
    node: on("content", "fetch-media", { cloud: "cloud" }),
    message: (contentId) => ({ transactionId, payload: { contentId } }),
  },
  ...Object.fromEntries(
    ["start", "stop", "cancel", "measure"].map((action): [string, IdPlace] => [
      `deviceReference of a remote ${action}`,
      {
        node: on(`remote-${action}`, "remote-trigger", {
          cloud: "cloud",
          action,
          deviceReference: "code",
          deviceReferenceType: "msg",
        }),
        message: (code) => ({ code, transactionReference: "ORDER-1" }),
      },
    ]),
  ),
  "transactionId of an archive job": {
    node: on("job", "archive", { cloud: "cloud", store: "store" }),
    message: (id) => ({ transactionId: id }),
  },
  "name of a device": {
    node: on("any-dock", "measure", { deviceFrom: "dock" }),
    message: (dock) => ({ dock }),
  },
  "name of a cloud": {
    node: on("any-cloud", "remote-trigger", { cloudFrom: "site", action: "measure", deviceReference }),
    message: (site) => ({ site, transactionReference: "ORDER-1" }),
  },
  "action of a video": {
    node: on("action", "video-control", { device: "device", action: "msg" }),
    message: (action) => ({ action }),
  },
  "action of a trigger": {
    node: on("trigger", "remote-trigger", { cloud: "cloud", action: "msg", deviceReference }),
    message: (action) => ({ action, transactionReference: "ORDER-1" }),
  },
  "kind of an image": {
    node: on("kind", "fetch-image", { device: "device", image: "msg" }),
    message: (image) => ({ image, imageIdentifier: "1" }),
  },
};

function configNodes(sim: Simulator): FlowNode[] {
  return [
    { id: "device", type: "dimensioner-device", name: "Dock", address: sim.newer.origin },
    { id: "cloud", type: "dimensioner-cloud", name: "Site", baseUrl: sim.cloud.origin },
    storeNode("/nowhere", "store"),
  ];
}

const actionsOf = ({ newer, earlier }: Simulator): number =>
  Object.values(newer.actions).reduce((sum, count) => sum + count, earlier.actions.measures);

describe("ids and names that could be read as another path", () => {
  let sim: Simulator;
  let flow: TestFlow;

  beforeEach(async () => {
    sim = await startSimulator();
  });
  afterEach(async () => {
    await flow?.stop();
    await sim.close();
  });

  it(`${Object.keys(idPlaces).length} ids and names × ${hostileIds.length} spellings: no request at all`, async () => {
    flow = await TestFlow.start(
      [...configNodes(sim), ...Object.values(idPlaces).map(({ node }) => node)],
      credentials,
    );
    for (const [what, { node, message }] of Object.entries(idPlaces)) {
      for (const id of hostileIds) {
        const { error, sent } = await flow.run(node.id, message(id));
        const about = `${what} ${JSON.stringify(id).slice(0, 60)}`;
        assert.equal(error?.code, "ERR_INPUT", about);
        assert.notEqual(error?.cause.outcome, "unknown", about);
        assert.equal(sent.length, 0, about);
        assert.doesNotMatch(error.message, controls, about);
        assert.ok(error.message.length < 400, about);
      }
    }
    assert.equal(sim.requests.length, 0);
    assert.equal(actionsOf(sim), 0);
  });

  it("file names lead to nothing outside the folder, not through links either", () =>
    withFolder(async (place) => {
      const folder = join(place, "folder");
      await mkdir(folder);
      await mkdir(join(place, "outside"));
      await symlink("../outside", join(folder, "link"));
      const image: unknown = await (await fetch(`${sim.newer.origin}/api/v1/measure`)).json();
      const imageIdentifier = String(Reflect.get(Object(image), "imageIdentifier"));
      const save = { device: "device", output: "file", filename: "name", filenameType: "msg" };
      flow = await TestFlow.start([
        ...configNodes(sim),
        ...["str", "flow", "global", "env"].map((folderType) =>
          on(folderType, "fetch-image", {
            ...save,
            folder: folderType === "str" ? folder : "DIMENSIONER_TEST_FOLDER",
            folderType,
          }),
        ),
        on("msg", "fetch-image", { ...save, folder: "folder", folderType: "msg" }),
      ]);
      process.env["DIMENSIONER_TEST_FOLDER"] = folder;
      const context = flow.node("str").context();
      context.flow.set("DIMENSIONER_TEST_FOLDER", folder);
      context.global.set("DIMENSIONER_TEST_FOLDER", folder);
      const names = [...hostileIds, "link/x", "link/../x", "link", "a/link/../../../x", `${place}/outside/x`];
      let saved = 0;
      for (const folderType of ["str", "flow", "global", "env"]) {
        for (const name of names) {
          const { error, sent } = await flow.run(folderType, { imageIdentifier, name });
          const about = `${folderType} ${JSON.stringify(name).slice(0, 60)}`;
          if (error !== undefined) {
            assert.ok(error.code === "ERR_INPUT" || error.code === "ERR_FILE", `${about}: ${error.message}`);
            continue;
          }
          const path = String(sent[0]?.msg["filename"]);
          assert.ok(path.startsWith(folder + sep), `${about}: ${path}`);
          assert.ok((await lstat(path)).isFile(), about);
          assert.doesNotMatch(path, /[\p{Cc}\\]/u);
          saved++;
        }
      }
      assert.ok(saved > 0);
      assert.deepEqual(await listAll(join(place, "outside")), []);
      assert.deepEqual((await readdir(place)).sort(), ["folder", "outside"]);
      const byMessage = await flow.run("msg", { imageIdentifier, folder, name: "x" });
      assert.equal(byMessage.error?.code, "ERR_CONFIG", "a message chose the folder");
      delete process.env["DIMENSIONER_TEST_FOLDER"];
    }));

  it("a folder that is missing is never created", () =>
    withFolder(async (place) => {
      const image: unknown = await (await fetch(`${sim.newer.origin}/api/v1/measure`)).json();
      const imageIdentifier = String(Reflect.get(Object(image), "imageIdentifier"));
      const root = join(place, "root");
      await mkdir(root);
      flow = await TestFlow.start([
        ...configNodes(sim),
        on("image", "fetch-image", {
          device: "device",
          output: "file",
          folder: "where",
          folderType: "flow",
        }),
        storeNode(join(root, "gone")),
        on("archive", "archive", { store: storeId(join(root, "gone")) }),
      ]);
      // Names of the folder itself, or of an existing one, may be given by the author of the flow.
      const missing = hostileIds.filter((id) => !/^[\s.\u0085]*$/.test(id) && id !== "x/../measure");
      for (const id of [...missing, "x/../measure"]) {
        flow.node("image").context().flow.set("where", `${root}/gone/${id}`);
        const { error } = await flow.run("image", { imageIdentifier });
        assert.match(error?.code ?? "", /^ERR_(?:FILE|CONFIG|INPUT)$/, JSON.stringify(id));
      }
      // It waits until somebody makes the folder.
      const payload = Buffer.from("ffd8ffe000104a464946ffd9", "hex");
      const waiting = flow.start("archive", { transactionId, payload });
      await flow.untilStatus("archive", ({ text }) => text === "1 not delivered: folder missing");
      await flow.run("archive", { reset: true });
      assert.equal((await waiting).error?.code, "ERR_CANCELLED");
      assert.deepEqual(await listAll(place), ["root"]);
    }));

  it("no reference, id or device of a message becomes a path of its own in the archive", () =>
    withFolder(async (place) => {
      const root = join(place, "root");
      await mkdir(root);
      flow = await TestFlow.start([
        storeNode(root),
        on("archive", "archive", {
          store: storeId(root),
          layout: "{date}/{device}/{reference}-{transactionId}",
        }),
      ]);
      let archived = 0;
      for (const [index, id] of hostileIds.entries()) {
        for (const field of ["transactionId", "transactionReference", "device", "description", "filename"]) {
          const { error, sent } = await flow.run("archive", {
            transactionId: `${index}`,
            payload: Buffer.from("ffd8ffe000104a464946ffd9", "hex"),
            contentType: "image/jpeg",
            [field]: id,
          });
          const about = `${field} ${JSON.stringify(id).slice(0, 60)}`;
          if (error !== undefined) {
            assert.equal(error.code, "ERR_INPUT", `${about}: ${error.message}`);
            continue;
          }
          const { folder, files } = sent[0]?.msg["payload"] as { folder: string; files: { path: string }[] };
          assert.equal(folder.slice(root.length).split(sep).length, 4, `${about}: ${folder}`);
          assert.ok(folder.startsWith(root + sep), about);
          for (const { path } of files) {
            assert.equal(join(path, ".."), folder, about);
          }
          archived++;
        }
      }
      assert.ok(archived > hostileIds.length);
      // Not what is in the root: the archive may still be clearing its work there.
      assert.deepEqual(await readdir(place), ["root"]);
    }));

  it("no layout of the archive leads out of its folder", () =>
    withFolder(async (place) => {
      const root = join(place, "root");
      await mkdir(root);
      const layouts = [
        ...hostileIds,
        "{../..}",
        "{date}/../..",
        "{__proto__}",
        "{constructor}",
        "{toString}",
      ];
      const nodes = layouts.map((layout, index) =>
        on(`archive-${index}`, "archive", { store: storeId(root), layout }),
      );
      flow = await TestFlow.start([storeNode(root), ...nodes]);
      for (const [index, layout] of layouts.entries()) {
        const { error, sent } = await flow.run(`archive-${index}`, {
          transactionId: `${index}`,
          payload: Buffer.from("ffd8ffe000104a464946ffd9", "hex"),
        });
        const folder = String(Reflect.get(Object(sent[0]?.msg["payload"]), "folder"));
        assert.ok(
          error?.code === "ERR_CONFIG" || error?.code === "ERR_INPUT" || folder.startsWith(root + sep),
          `${JSON.stringify(layout).slice(0, 60)}: ${error?.message ?? folder}`,
        );
      }
      // Not what is in the root: the archive may still be clearing its work there.
      assert.deepEqual(await readdir(place), ["root"]);
    }));

  it("a webhook serves no other path, and accepts no other last part as the secret", async () => {
    const hook = { path: "in/dock", secretIn: "path" };
    const broken = hostileIds.map((path, index) => on(`bad-${index}`, "transaction-in", { ...hook, path }));
    const secrets = Object.fromEntries(
      ["hook", ...broken.map(({ id }) => id)].map((id) => [id, { secret: "s" }]),
    );
    flow = await TestFlow.start([on("hook", "transaction-in", hook), ...broken], secrets);
    const server = createServer(flow.webApp).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const post = (path: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { "content-type": "application/json" };
        const call = request(
          { port, host: "127.0.0.1", method: "POST", path, headers, agent: false },
          (answer) => {
            answer.resume().once("end", () => resolve(answer.statusCode ?? 0));
          },
        );
        call.once("error", reject);
        call.end(JSON.stringify({ id: 1, errorCode: 0 }));
      });
    try {
      // Of the bad ones, those that are parts of a path as people write them are served as such.
      for (const [index, path] of hostileIds.entries()) {
        const last = flow.lastStatus(`bad-${index}`);
        const isPlain = /^[\s/]*[\w~-][\w.~-]*(?:\/[\w~-][\w.~-]*)*[\s/]*$/.test(path);
        assert.equal(
          last?.fill,
          isPlain ? "green" : "red",
          `${JSON.stringify(path).slice(0, 40)} ${last?.text}`,
        );
      }
      for (const id of hostileIds) {
        const sendable = encodeURI(id.toWellFormed()).replace(/%25/g, "%");
        for (const path of [
          `/in/dock/${sendable}`,
          `/in/${sendable}/s`,
          `/${sendable}/in/dock/s`,
          `/in/dock/s/${sendable}x`,
        ]) {
          const status = await post(path);
          assert.ok(status === 401 || status === 404 || status === 400, `${path.slice(0, 60)}: ${status}`);
        }
      }
      assert.equal(flow.sent.length, 0);
      assert.equal(await post("/in/dock/s"), 204);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
