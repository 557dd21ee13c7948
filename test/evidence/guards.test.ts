import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import type { AccessRules } from "../../src/access/gate.ts";
import { hashPassword } from "../../src/access/logins.ts";
import { fillArchive } from "../archive/packages.ts";
import { withFolder } from "../media/support.ts";
import { type Served, assertGuarded, cookieOf, newMemory, packagesOf, withPage } from "./support.ts";

const passwords = { Anna: "a long password", Ben: "another password" };

async function rulesOf(): Promise<AccessRules> {
  return {
    by: "logins",
    logins: [
      { name: "Anna", right: "manage", hash: await hashPassword(passwords.Anna) },
      { name: "Ben", right: "read", hash: await hashPassword(passwords.Ben) },
    ],
  };
}

async function logIn(served: Served, name: keyof typeof passwords, headers = {}): Promise<Response> {
  return served.post("api/login", { name, password: passwords[name] }, headers);
}

async function reasonOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json();
  return typeof body === "object" && body !== null && "reason" in body ? body.reason : body;
}

describe("the guards of the evidence page", () => {
  let rules: AccessRules;
  before(async () => {
    rules = await rulesOf();
  });
  const serve = (body: (served: Served) => Promise<void>, memory = newMemory()): Promise<void> =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      await withPage(root, rules, body, memory);
    });

  it("show nobody anything without a login", () =>
    serve(async ({ ask, post }) => {
      const me = await ask("api/me");
      assert.deepEqual([me.status, await me.json()], [200, null], "it is nobody, which is no mistake");
      for (const path of [
        "api/packages?text=",
        "api/packages/m0",
        "api/packages/m0/files/0",
        "api/packages/m0/files/picture",
        "api/exports/m0",
      ]) {
        const response = await ask(path);
        assert.deepEqual([response.status, await reasonOf(response)], [401, "logIn"], path);
      }
      for (const path of ["api/packages/m0/verify", "api/packages/m0/hold", "api/exports", "api/logout"]) {
        assert.equal((await post(path, { reason: "claim" })).status, 401, path);
      }
      for (const path of ["page.ts", "texts/de.json", "..%2fpackage.json", "index.html/x", "api"]) {
        assert.ok([401, 404].includes((await ask(path)).status), path);
      }
    }));

  it("are on every answer: no cache, no frame, no guessing of types, no foreign content", () =>
    serve(async ({ ask, post }) => {
      for (const response of [await ask("api/me"), await post("api/login"), await ask("none")]) {
        assertGuarded(response);
      }
    }));

  it("give a session whose token scripts and other sites cannot reach, a new one with each login", () =>
    serve(async (served) => {
      const first = await logIn(served, "Anna");
      assert.equal(first.status, 204);
      assert.match(
        first.headers.get("set-cookie") ?? "",
        /^dimensioner_evidence=[\w-]{43}; Path=\/evidence; HttpOnly; SameSite=Strict$/,
      );
      const secure = await logIn(served, "Anna", { "x-forwarded-proto": "https" });
      assert.match(secure.headers.get("set-cookie") ?? "", /; SameSite=Strict; Secure$/);

      const cookie = cookieOf(first);
      const me = await served.ask("api/me", { headers: { cookie } });
      assert.deepEqual(await me.json(), { name: "Anna", right: "manage", canLogOut: true });
      // A token that somebody has set before the login is worth nothing after it, and neither is the one before.
      const again = await logIn(served, "Ben", { cookie });
      assert.notEqual(cookieOf(again), cookie);
      const isNobody = async (given: string): Promise<void> => {
        const asked = await served.ask("api/me", { headers: { cookie: given } });
        assert.equal(await asked.json(), null);
        assert.equal((await served.ask("api/devices", { headers: { cookie: given } })).status, 401);
      };
      await isNobody(cookie);
      await isNobody(`${cookieOf(again)}; dimensioner_evidence=fixed`);

      const left = await served.post("api/logout", {}, { cookie: cookieOf(again) });
      assert.match(left.headers.get("set-cookie") ?? "", /^dimensioner_evidence=; Max-Age=0; /);
      await isNobody(cookieOf(again));
    }));

  it("refuse changes that another site causes, with the browser's own session", () =>
    serve(async (served) => {
      const cookie = cookieOf(await logIn(served, "Anna"));
      const hold = (headers: Record<string, string>): Promise<Response> =>
        served.ask("api/packages/m0/hold", {
          method: "POST",
          headers: { cookie, "content-type": "application/json", ...headers },
          body: JSON.stringify({ reason: "claim" }),
        });
      for (const headers of [
        { origin: "https://evil.example" },
        { origin: "null" },
        {},
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
      ]) {
        const response = await hold(headers as Record<string, string>);
        assert.deepEqual([response.status, await reasonOf(response)], [403, "otherSite"]);
      }
      const { origin } = new URL(served.url);
      const form = await hold({ origin, "content-type": "application/x-www-form-urlencoded" });
      assert.equal(form.status, 415);
      const byGet = await served.ask("api/packages/m0/hold?reason=claim", { headers: { cookie } });
      assert.equal(byGet.status, 404);
      const large = await served.post("api/packages/m0/hold", { reason: "x".repeat(20_000) }, { cookie });
      assert.equal(large.status, 413);
    }));

  it("let readers look and verify, but not hold, release or add numbers", () =>
    serve(async (served) => {
      const id = await idOf(served, cookieOf(await logIn(served, "Ben")));
      const [reader, manager] = [cookieOf(await logIn(served, "Ben")), cookieOf(await logIn(served, "Anna"))];
      const changes = { hold: { reason: "claim" }, release: { reason: "claim" }, numbers: { number: "1Z" } };
      for (const [what, body] of Object.entries(changes)) {
        const response = await served.post(`api/packages/${id}/${what}`, body, { cookie: reader });
        assert.deepEqual([response.status, await reasonOf(response)], [403, "onlyRead"]);
      }
      assert.equal((await served.post(`api/packages/${id}/prune`, {}, { cookie: manager })).status, 404);
      const claim = { reason: "claim", heldAt: null };
      const held = await served.post(`api/packages/${id}/hold`, claim, { cookie: manager });
      const { hold } = (await held.json()) as { hold: { person: string; reason: string } };
      assert.deepEqual([hold.person, hold.reason], ["Anna", "claim"]);
      const nothing = { reason: " ", heldAt: null };
      const blank = await served.post(`api/packages/${id}/release`, nothing, { cookie: manager });
      assert.equal(blank.status, 400);
    }));

  it("change no hold but the one that the page shows", () =>
    serve(async (served) => {
      const cookie = cookieOf(await logIn(served, "Anna"));
      const path = `api/packages/${await idOf(served, cookie)}`;
      const change = async (what: string, body: object): Promise<unknown> => {
        const response = await served.post(`${path}/${what}`, body, { cookie });
        return response.ok ? response.status : [response.status, await reasonOf(response)];
      };
      const holdNow = async (): Promise<{ heldAt: string; reason: string } | null> =>
        ((await (await served.ask(path, { headers: { cookie } })).json()) as { hold: never }).hold;
      const changed = [409, "holdChanged"];
      assert.deepEqual(await change("release", { reason: "settled", heldAt: null }), changed);
      assert.equal(await change("hold", { reason: "claim", heldAt: null }), 200);
      // A page that was opened before shows none.
      assert.deepEqual(await change("hold", { reason: "another claim", heldAt: null }), changed);
      const earlier = { reason: "settled", heldAt: "2026-03-04T01:30:00.000Z" };
      assert.deepEqual(await change("release", earlier), changed);
      const hold = await holdNow();
      assert.equal(hold?.reason, "claim");
      assert.deepEqual(await change("release", { reason: "settled" }), [400, "badRequest"]);
      assert.equal(await change("release", { reason: "settled", heldAt: hold?.heldAt }), 200);
      assert.deepEqual(await change("release", { reason: "settled", heldAt: hold?.heldAt }), changed);
      assert.equal(await holdNow(), null);
    }));

  it("end a session with the right, the password or the login that a deploy takes away", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const memory = newMemory();
      let cookie = "";
      await withPage(
        root,
        rules,
        async (served) => {
          cookie = cookieOf(await logIn(served, "Anna"));
        },
        memory,
      );
      const deployed = async (changed: AccessRules): Promise<unknown> => {
        let said: unknown;
        await withPage(
          root,
          changed,
          async ({ ask }) => {
            said = await (await ask("api/me", { headers: { cookie } })).json();
          },
          memory,
        );
        return said;
      };
      const logins = rules.by === "logins" ? rules.logins : [];
      assert.deepEqual(await deployed(rules), { name: "Anna", right: "manage", canLogOut: true });
      const lower = logins.map((login) => ({ ...login, right: "read" as const }));
      assert.deepEqual(await deployed({ by: "logins", logins: lower }), {
        name: "Anna",
        right: "read",
        canLogOut: true,
      });
      const hash = await hashPassword("a third password");
      const other = logins.map((login) => ({ ...login, hash }));
      assert.deepEqual(await deployed({ by: "logins", logins: other }), null);
    }));

  it("believe a proxy's header from the proxy alone", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const proxy = { by: "proxy", header: "x-user", managers: ["Anna"] } as const;
      await withPage(root, { ...proxy, addresses: ["127.0.0.1"] }, async ({ ask, post }) => {
        const me = async (user: string): Promise<unknown> =>
          (await ask("api/me", { headers: { "x-user": user } })).json();
        assert.deepEqual(await me("anna"), { name: "anna", right: "manage", canLogOut: false });
        assert.deepEqual(await me("Ben"), { name: "Ben", right: "read", canLogOut: false });
        assert.equal((await ask("api/me")).status, 401);
        const login = await post("api/login", { name: "Anna", password: passwords.Anna });
        assert.equal(login.status, 404);
      });
      await withPage(root, { ...proxy, addresses: ["10.0.0.1"] }, async ({ ask }) => {
        const response = await ask("api/me", {
          headers: { "x-user": "Anna", "x-forwarded-for": "10.0.0.1" },
        });
        assert.deepEqual([response.status, await reasonOf(response)], [403, "notThroughProxy"]);
      });
    }));

  it("recognize the login of Node-RED's pages by its user", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      const basic = (user: string) => ({
        authorization: `Basic ${Buffer.from(`${user}:password`).toString("base64")}`,
      });
      await withPage(root, { by: "nodeRed", user: "dock", managers: [] }, async ({ ask }) => {
        const me = await ask("api/me", { headers: basic("dock") });
        assert.deepEqual(await me.json(), { name: "dock", right: "read", canLogOut: false });
        assert.equal((await ask("api/me", { headers: basic("other") })).status, 401);
        assert.equal((await ask("api/me")).status, 401);
      });
    }));

  it("ask requests to come again while the node is replaced", () =>
    serve(async (served) => {
      const held = served.hold("find");
      const login = await logIn(served, "Anna");
      const begun = served.ask("api/packages", { headers: { cookie: cookieOf(login) } });
      await held.arrived;
      await served.close();
      held.release();
      for (const response of [await begun, await served.ask("api/me")]) {
        assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "2"]);
      }
      assert.deepEqual(served.problems, []);
    }));

  it("answer a wrong password and a wrong name alike, and neither after five tries", () =>
    serve(async (served) => {
      const answers: unknown[] = [];
      for (const name of ["Anna", "Nobody"]) {
        for (let n = 0; n < 6; n += 1) {
          const response = await served.post("api/login", { name, password: "wrong password" });
          answers.push([name, response.status, await reasonOf(response), response.headers.get("set-cookie")]);
          if (n === 5) {
            assert.match(response.headers.get("retry-after") ?? "", /^\d+$/);
          }
        }
      }
      const expected = (name: string) => [
        ...Array.from({ length: 5 }, () => [name, 401, "wrongLogin", null]),
        [name, 429, "tooManyTries", null],
      ];
      assert.deepEqual(answers, [...expected("Anna"), ...expected("Nobody")]);
      assert.equal((await logIn(served, "Anna")).status, 429, "not with the right password either");
      assert.equal((await logIn(served, "Ben")).status, 204);
    }));

  it("count tries that come at the same moment", () =>
    serve(async (served) => {
      const tries = Array.from({ length: 12 }, () =>
        served.post("api/login", { name: "Anna", password: "wrong password" }),
      );
      const statuses = (await Promise.all(tries)).map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 401).length, 5);
      assert.equal(statuses.filter((status) => status === 429).length, 7);
    }));

  it("take as long for a name that does not exist", () =>
    serve(async (served) => {
      // Nearly all of the time goes into the hash.
      let hashes = 0;
      const hook = createHook({
        init: (_id, type) => {
          hashes += type === "SCRYPTREQUEST" ? 1 : 0;
        },
      }).enable();
      const hashesFor = async (name: string): Promise<number> => {
        const before = hashes;
        assert.equal((await served.post("api/login", { name, password: "wrong password" })).status, 401);
        return hashes - before;
      };
      try {
        assert.deepEqual([await hashesFor("Anna"), await hashesFor("Nobody")], [1, 1]);
      } finally {
        hook.disable();
      }
    }));
});

async function idOf(served: Served, cookie: string): Promise<string> {
  const response = await served.ask("api/packages?text=", { headers: { cookie } });
  const [one] = await packagesOf<{ packageId: string }>(response);
  return encodeURIComponent(one?.packageId ?? assert.fail());
}
