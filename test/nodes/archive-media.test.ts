import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { pictureOf, readPackages, sha256Of } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { archive, ArchiveSuite, payloadOf, type Payload } from "./archive-suite.ts";

describe("dimensioner-archive with the media on the message", () => {
  const suite = new ArchiveSuite();

  it("takes bytes of any kind beside the cloud's media: of a function, of fetch, or of a Buffer that was JSON", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root));
      const bytes = pictureOf("a");
      const given: readonly unknown[] = [
        runInNewContext("Uint8Array.from(bytes)", { bytes: [...bytes] }),
        [runInNewContext("Uint8Array.from(bytes)", { bytes: [...bytes] })],
        new Uint8Array(bytes).buffer,
        new DataView(new Uint8Array(bytes).buffer),
        bytes.toJSON(),
      ];
      for (const [at, payload] of given.entries()) {
        suite.addVideo(`${at}`);
        const { error } = await test.run("node", { transactionId: `${at}`, payload });
        assert.equal(error, undefined, error?.message);
        const { files } = payloadOf(test.sent.at(-1)?.msg);
        assert.deepEqual(files.map(({ source }) => source).toSorted(), ["cloud", "message"]);
        assert.ok(files.some(({ sha256 }) => sha256 === sha256Of(bytes)));
      }
    });
  });

  it("gathers Buffers and saved files of a sequence into one package and one message", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "root");
      await mkdir(root);
      const file = pictureOf("from a file");
      const path = join(folder, "color.jpg");
      await writeFile(path, file);
      const test = await suite.start(root, archive(root, { cloud: "", transactionId: "id" }), {
        id: "image",
        z: "tab",
        type: "dimensioner-fetch-image",
        output: "file",
        folder,
      });
      const rawResponse =
        '{"errorCode":0,"dimensionsLegalForTrade":true,"dateTimeLocal":"2026-11-02T10:00:00+01:00"}';
      const ofParcel = { id: "local-1", rawResponse, transactionReference: "ORDER-1" };
      const parts = (index: number) => ({ id: "p", index, count: 3 });
      const ends = await Promise.all([
        test.start("node", {
          ...ofParcel,
          payload: pictureOf("a"),
          filename: "annotated.jpg",
          parts: parts(1),
        }),
        test.start("node", {
          ...ofParcel,
          payload: { path, bytes: file.length, sha256: sha256Of(file), contentType: "image/jpeg" },
          parts: parts(0),
        }),
        test.start("node", {
          ...ofParcel,
          payload: [pictureOf("c"), pictureOf("d")],
          parts: parts(2),
        }),
      ]);
      assert.deepEqual(
        ends.map(({ error }) => error),
        [undefined, undefined, undefined],
      );
      assert.equal(test.sent.length, 1);
      const payload = payloadOf(test.sent[0]?.msg);
      assert.equal(payload.files.length, 4);
      assert.equal("parts" in (test.sent[0]?.msg ?? {}), false);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual(
        [manifest?.source, manifest?.cloud, manifest?.legalForTrade, manifest?.times.deviceLocal],
        [undefined, null, true, "2026-11-02T10:00:00+01:00"],
      );
      assert.equal(suite.sim.requests.length, 0);
    });
  });

  it("archives a Buffer as it was at one moment, whatever a flow writes into it meanwhile", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { cloud: "", transactionId: "id" }));
      for (const bytes of [200_000, 3_000_000]) {
        const shared = Buffer.alloc(bytes, 0x80);
        let round = 0;
        const writing = setInterval(() => shared.fill(0x80 + (++round % 100)), 0);
        const { error } = await test.start("node", { id: `m${bytes}`, payload: shared });
        clearInterval(writing);
        assert.equal(error, undefined);
      }
      const packages = [...(await readPackages(root))];
      assert.equal(packages.length, 2);
      for (const [path, { items }] of packages) {
        const [item = assert.fail()] = items;
        const content = await readFile(join(root, path, item.path));
        assert.equal(sha256Of(content), item.sha256);
        assert.ok(content.equals(Buffer.alloc(content.length, content[0])), "of one moment");
      }
    });
  });

  it("takes the count of a sequence that is none for a missing one, and its package can be read", async () => {
    await withFolder(async (root) => {
      const settings = { cloud: "", wait: 0, onIncomplete: "keep" };
      const test = await suite.start(root, archive(root, settings));
      for (const count of [2.5, Number.NaN, Infinity, -2, 0, 2 ** 60]) {
        const id = String(count);
        const parts = { id, index: 0, count };
        const { error } = await test.run("node", { transactionId: id, payload: pictureOf(id), parts });
        assert.equal(error, undefined, id);
      }
      const packages = [...(await readPackages(root)).values()];
      assert.deepEqual(
        packages.map(({ missing, expected }) => [missing, expected?.parts]),
        Array.from(packages, () => [["the last part"], 2]),
      );
    });
  });

  it("takes a message for one by itself if its place in a sequence is none", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { cloud: "", wait: 0 }));
      for (const index of [0.5, -1, Number.NaN, 2 ** 60]) {
        const id = String(index);
        const parts = { id, index, count: 2 };
        const { error } = await test.run("node", { transactionId: id, payload: pictureOf(id), parts });
        assert.equal(error, undefined, id);
      }
      assert.equal((await readPackages(root)).size, 4);
    });
  });

  it("makes a package of each parcel of a list that Split has divided, and Join gets them all", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "root");
      await mkdir(root);
      const place = { z: "tab", x: 100, y: 100 };
      const node = {
        ...archive(root, { cloud: "", transactionId: "payload.parcel" }),
        wires: [["join"], []],
      };
      const test = await suite.start(
        root,
        { id: "split", ...place, type: "split", arraySplt: 1, arraySpltType: "len", wires: [["node"]] },
        { id: "image", z: "tab", type: "dimensioner-fetch-image", output: "file", folder },
        node,
        { id: "join", ...place, type: "join", mode: "auto", wires: [["out-0"]] },
      );
      const parcels = ["1001", "1002", "1003"];
      const payload = await Promise.all(
        parcels.map(async (parcel) => {
          const picture = pictureOf(parcel);
          const path = join(folder, `${parcel}.jpg`);
          await writeFile(path, picture);
          return { parcel, path, bytes: picture.length, sha256: sha256Of(picture) };
        }),
      );
      test.node("split").receive({ payload });
      const { msg } = await test.untilSent("join", () => true);
      assert.deepEqual(
        (msg["payload"] as Payload[]).map(({ transactionId, complete, files }) => [
          transactionId,
          complete,
          files.map(({ sha256 }) => sha256),
        ]),
        parcels.map((parcel, index) => [parcel, true, [payload[index]?.sha256]]),
      );
      assert.equal((await readPackages(root)).size, 3);
    });
  });

  it("needs no cloud config node", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { cloud: "" }));
      const { error, sent } = await test.run("node", { transactionId: "1", payload: pictureOf("x") });
      assert.equal(error, undefined);
      assert.equal(payloadOf(sent[0]?.msg).files[0]?.contentType, "image/jpeg");
      assert.equal(
        test.shown.some(({ fill }) => fill === "red"),
        false,
      );
    });
  });
});
