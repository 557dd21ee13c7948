import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { hashPassword } from "../../src/access/logins.ts";
import { pictureOf } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { type NodeRed, nodeRedMajor, startNodeRed } from "../support/node-red.ts";

const password = "a long password";

/** A store with a page. */
function store(id: string, folder: string, more: object): object {
  return { id, type: "dimensioner-store", name: "", folder, folderType: "str", ...more };
}

async function logins(): Promise<string> {
  return JSON.stringify([{ name: "Anna", right: "read", hash: await hashPassword(password) }]);
}

/** On a connection of its own: one that is kept may be ended by Node-RED, after 5 s, when the next request begins on it. */
function ask(url: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("connection", "close");
  return fetch(url, { ...init, headers });
}

async function withNodeRed(settings: object, body: (nodeRed: NodeRed) => Promise<void>): Promise<void> {
  const nodeRed = await startNodeRed({ major: nodeRedMajor, settings: { ...settings } });
  try {
    await body(nodeRed);
  } finally {
    await nodeRed.stop();
  }
}

describe("the evidence page in Node-RED", () => {
  it("is not served to anybody as long as nobody can be recognized, and the log says why", () =>
    withFolder((folder) =>
      withNodeRed({}, async (nodeRed) => {
        const problems: readonly (readonly [object, RegExp])[] = [
          [{ path: "p" }, /“Logins” is not valid: there is no login yet/],
          [{ path: "p", credentials: { logins: "[{}]" } }, /“Logins” is not valid: they are not in the form/],
          [{ path: "p", login: "nodeRed" }, /“Log in with” is not valid: httpNodeAuth is not set/],
          [{ path: "p", login: "proxy" }, /“Header” is not valid: it is empty/],
          [
            { path: "p", login: "proxy", header: "x-user", proxyAddresses: "dock" },
            /“dock” is not an IP address/,
          ],
          [
            { path: "p", url: "dock", credentials: { logins: await logins() } },
            /“Public address” is not valid/,
          ],
          [{ path: "p/:id", credentials: { logins: await logins() } }, /“Path” is not valid: only letters/],
        ];
        for (const [more, text] of problems) {
          const said = nodeRed.nextLine(/The evidence page is not served/);
          await nodeRed.deploy([store("store", folder, more)]);
          assert.match(await said, text);
          assert.equal((await ask(`${nodeRed.url}/p/`)).status, 404);
        }
        const said = nodeRed.nextLine(/not served: path used by another node/);
        const credentials = { logins: await logins() };
        await nodeRed.deploy([
          store("first", folder, { path: "p", credentials }),
          store("second", folder, { path: "p/more", credentials }),
        ]);
        await said;
        assert.equal((await ask(`${nodeRed.url}/p/more/`)).status, 404, "the first page has no such file");
        assert.equal((await ask(`${nodeRed.url}/P`, { redirect: "manual" })).headers.get("location"), "P/");
        assert.equal((await ask(`${nodeRed.url}/p`)).status, 200);
      }),
    ));

  it("says that a webhook or an http in node has a part of its path, until that is gone", () =>
    withFolder((folder) =>
      withNodeRed({}, async (nodeRed) => {
        const page = store("store", folder, { path: "p", credentials: { logins: await logins() } });
        const tab = { id: "tab", type: "tab", label: "Dock" };
        const other = (more: object): object => ({ id: "other", z: "tab", wires: [[]], ...more });
        const httpIn = (url: string): object => other({ type: "http in", method: "get", url });
        const problem = /The evidence page is not served: path used by another node/;
        for (const node of [httpIn("/p/api/more"), httpIn("/P"), httpIn("p/:id")]) {
          const said = nodeRed.nextLine(problem);
          await nodeRed.deploy([tab, page, node]);
          await said;
          const served = nodeRed.nextLine(/The evidence page is served at/);
          await nodeRed.deploy([tab, page, httpIn("/pp")], "nodes");
          await served;
        }
        const said = nodeRed.nextLine(/\[dimensioner-transaction-in:other\] path used by another node/);
        await nodeRed.deploy([
          tab,
          page,
          other({ type: "dimensioner-transaction-in", path: "p/transaction", secretIn: "none" }),
        ]);
        await said;
        const own = await ask(`${nodeRed.url}/p/`);
        assert.equal(own.status, 200);
        await nodeRed.deploy([tab, page, httpIn("/*splat")]);
        assert.equal((await ask(`${nodeRed.url}/p/`)).status, 200, "one that takes the rest is no problem");
      }),
    ));

  it("reads posts itself, also where the editor has the same root, and keeps its login to its own path", () =>
    withFolder((folder) =>
      withNodeRed({}, async (nodeRed) => {
        const credentials = { logins: await logins() };
        await nodeRed.deploy([store("store", folder, { path: "deep/evidence", credentials })]);
        const response = await ask(`${nodeRed.url}/deep/evidence/api/login`, {
          method: "POST",
          headers: { "content-type": "application/json", origin: nodeRed.url },
          body: JSON.stringify({ name: "anna", password }),
        });
        assert.equal(response.status, 204);
        assert.match(response.headers.get("set-cookie") ?? "", /; Path=\/deep\/evidence; /);
        const flows = await (await nodeRed.adminFetch("/flows")).text();
        assert.equal(flows.includes("scrypt"), false, "the hash is a credential, and not in the flows");
      }),
    ));

  it("is where the archive's message leads, if it is served", () =>
    withFolder((folder) =>
      withNodeRed({}, async (nodeRed) => {
        const credentials = { logins: await logins() };
        const place = { z: "tab" };
        const link = async (more: object): Promise<unknown> => {
          await nodeRed.deploy([
            { id: "tab", type: "tab", label: "Dock" },
            store("store", folder, more),
            { ...place, id: "in", type: "http in", url: "/archive", method: "post", wires: [["parcel"]] },
            {
              ...place,
              id: "parcel",
              type: "function",
              outputs: 1,
              wires: [["archive"]],
              func: `msg.transactionId = "1"; msg.contentType = "image/jpeg"; return msg;`,
            },
            {
              ...place,
              id: "archive",
              type: "dimensioner-archive",
              store: "store",
              cloud: "",
              version: 1,
              wires: [["answer"], []],
            },
            { ...place, id: "catch", type: "catch", scope: null, wires: [["answer"]] },
            { ...place, id: "answer", type: "http response", wires: [] },
          ]);
          const response = await ask(`${nodeRed.url}/archive`, {
            method: "POST",
            headers: { "content-type": "application/octet-stream" },
            body: new Uint8Array(pictureOf("1")),
          });
          const { packageId, link } = (await response.json()) as { packageId: string; link: unknown };
          return typeof link === "string" ? link.replace(encodeURIComponent(packageId), "ID") : link;
        };
        assert.equal(await link({ path: "p", credentials }), "/p/#package=ID");
        const url = "https://dock.example.com/evidence";
        assert.equal(await link({ path: "p", credentials, url }), `${url}/#package=ID`);
        assert.equal(await link({ path: "p", login: "nodeRed" }), null, "the page is not served");
        assert.equal(await link({}), null);
      }),
    ));

  it("lets Node-RED's own login decide, if it is told to", () =>
    withFolder((folder) => {
      // What Node-RED takes for a hash of 32 characters.
      const pass = createHash("md5").update(password).digest("hex");
      return withNodeRed(
        { httpNodeRoot: "/flows/", httpNodeAuth: { user: "dock", pass } },
        async (nodeRed) => {
          const served = nodeRed.nextLine(/The evidence page is served at \/flows\/p\/\./);
          await nodeRed.deploy([store("store", folder, { path: "p", login: "nodeRed", managers: "dock" })]);
          await served;
          const me = (given: string): Promise<Response> =>
            ask(`${nodeRed.url}/flows/p/api/me`, {
              headers: { authorization: `Basic ${Buffer.from(`dock:${given}`).toString("base64")}` },
            });
          assert.equal((await me("wrong")).status, 401);
          assert.equal((await ask(`${nodeRed.url}/flows/p/`)).status, 401);
          assert.deepEqual(await (await me(password)).json(), {
            name: "dock",
            right: "manage",
            canLogOut: false,
          });
        },
      );
    }));
});
