import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { isFromOwnPage } from "../../src/access/gate.ts";
import {
  FailedLogins,
  PasswordChecks,
  hashPassword,
  isPasswordHash,
  networkOf,
  readLogins,
} from "../../src/access/logins.ts";
import { Sessions, idleMs, longestMs } from "../../src/access/sessions.ts";

const minute = 60_000;

describe("access: passwords", () => {
  it("are kept as scrypt hashes with a salt of their own, and recognized however a keyboard composes them", async () => {
    const checks = new PasswordChecks();
    const [hash, other] = await Promise.all([hashPassword("Ω pässword 12"), hashPassword("Ω pässword 12")]);
    assert.match(hash, /^scrypt\$15\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
    assert.notEqual(hash, other);
    assert.equal(await checks.check("Ω pässword 12".normalize("NFD"), hash), true);
    assert.equal(await checks.check("Ω pässword 13", hash), false);
    assert.equal(await checks.check("Ω pässword 12", undefined), false);
  });

  it("are not checked against hashes that would take all memory", () => {
    const tail = `$${"a".repeat(22)}$${"a".repeat(43)}`;
    assert.equal(isPasswordHash(`scrypt$15$8$3${tail}`), true);
    for (const dear of ["25$8$1", "15$99$1", "14$8$99", "0$8$1", "15$0$1"]) {
      assert.equal(isPasswordHash(`scrypt$${dear}${tail}`), false, dear);
    }
  });

  it("wait for their turn, and not too many of them", async () => {
    const checks = new PasswordChecks();
    const cheap = `scrypt$1$1$1$${"a".repeat(22)}$${"a".repeat(43)}`;
    const all = await Promise.all(Array.from({ length: 22 }, () => checks.check("x", cheap)));
    assert.deepEqual(all.slice(20), ["busy", "busy"]);
    assert.ok(all.slice(0, 20).every((one) => one === false));
  });
});

describe("access: logins of the credentials", () => {
  const hash = `scrypt$15$8$3$${"a".repeat(22)}$${"a".repeat(43)}`;
  it("are read only as the dialog saves them, each name once", () => {
    assert.deepEqual(readLogins(""), []);
    assert.equal(readLogins(JSON.stringify([{ name: "Anna", right: "read", hash }]))?.length, 1);
    const anna = { name: "Anna", right: "read", hash };
    for (const wrong of [
      "{}",
      "[",
      JSON.stringify([{ ...anna, hash: "plain text" }]),
      JSON.stringify([{ ...anna, right: "admin" }]),
      JSON.stringify([{ ...anna, name: " " }]),
      JSON.stringify([anna, { ...anna, name: "ANNA" }]),
    ]) {
      assert.equal(readLogins(wrong), undefined, wrong);
    }
  });
});

describe("access: sessions", () => {
  const login = { name: "Anna", hash: "hash" };
  const hashOf = (): string => "hash";

  it("end after a time without a request, and after a working day in any case", () => {
    let now = 0;
    const sessions = new Sessions(() => now);
    const [used, idle] = [sessions.begin(login), sessions.begin(login)];
    for (; now < longestMs; now += idleMs - 1) {
      assert.equal(sessions.find(used, hashOf), "Anna", `after ${now} ms`);
    }
    assert.equal(sessions.find(used, hashOf), undefined);
    assert.equal(sessions.find(idle, hashOf), undefined);
  });

  it("end with another password, with the login, and when they are ended", () => {
    const sessions = new Sessions();
    const [changed, removed, ended] = [sessions.begin(login), sessions.begin(login), sessions.begin(login)];
    assert.equal(
      sessions.find(changed, () => "another hash"),
      undefined,
    );
    assert.equal(sessions.find(changed, hashOf), undefined, "it does not come back with the old password");
    assert.equal(
      sessions.find(removed, () => undefined),
      undefined,
    );
    sessions.end(ended);
    assert.equal(sessions.find(ended, hashOf), undefined);
    assert.equal(sessions.find("", hashOf), undefined);
  });

  it("are bounded: of one login 20, the one that was used longest ago ends first", () => {
    const sessions = new Sessions();
    const tokens = Array.from({ length: 20 }, () => sessions.begin(login));
    const [first = "", second = ""] = tokens;
    assert.equal(sessions.find(first, hashOf), "Anna");
    sessions.begin(login);
    assert.equal(sessions.find(second, hashOf), undefined);
    assert.equal(sessions.find(first, hashOf), "Anna");
    const other = sessions.begin({ name: "Ben", hash: "hash" });
    assert.equal(sessions.find(other, hashOf), "Ben");
  });
});

describe("access: failed logins", () => {
  it("of a name from one network are limited for a quarter of an hour, and are those of one network together", () => {
    let now = 0;
    const failed = new FailedLogins(() => now);
    for (let n = 0; n < 5; n += 1) {
      assert.equal(failed.waitSeconds("Anna", "10.0.0.1"), 0);
      failed.add("anna ", "10.0.0.1");
      now += minute;
    }
    assert.equal(failed.waitSeconds("ANNA", "10.0.0.1"), 10 * 60);
    assert.equal(failed.waitSeconds("Anna", "10.0.0.2"), 0);
    assert.equal(failed.waitSeconds("Ben", "10.0.0.1"), 0);
    now = 15 * minute;
    assert.equal(failed.waitSeconds("Anna", "10.0.0.1"), 0);

    for (let n = 0; n < 50; n += 1) {
      failed.add(`name ${n}`, "10.0.0.3");
    }
    assert.ok(failed.waitSeconds("another name", "10.0.0.3") > 0);
    for (let n = 0; n < 100; n += 1) {
      failed.add("Anna", `10.1.0.${n}`);
    }
    assert.ok(failed.waitSeconds("Anna", "10.2.0.1") > 0, "from many networks");
  });

  it("are forgotten with a login that succeeds", () => {
    const failed = new FailedLogins(() => 0);
    for (let n = 0; n < 5; n += 1) {
      failed.add("Anna", "10.0.0.1");
    }
    failed.succeeded("Anna", "10.0.0.1");
    assert.equal(failed.waitSeconds("Anna", "10.0.0.1"), 0);
    // Everybody comes through one proxy.
    for (let n = 0; n < 200; n += 1) {
      assert.equal(failed.waitSeconds("Anna", "10.0.0.1"), 0, `login ${n}`);
      failed.add("Anna", "10.0.0.1");
      failed.succeeded("Anna", "10.0.0.1");
    }
  });

  it("count a household's IPv6 addresses as one", () => {
    for (const [address, network] of [
      ["::ffff:10.0.0.1", "10.0.0.1"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
      ["2001:db8:1:2::9", "2001:db8:1:2"],
      ["2001:db8::9", "2001:db8:0:0"],
      ["::1", "0:0:0:0"],
      ["fe80::1%eth0", "fe80:0:0:0"],
    ] as const) {
      assert.equal(networkOf(address), network, address);
    }
  });
});

describe("access: requests that change something", () => {
  const isOwn = (headers: Readonly<Record<string, string>>): boolean =>
    isFromOwnPage({ headers } as unknown as IncomingMessage);
  it("have to come from the page itself, as the browser says", () => {
    const host = "dock.example:1880";
    assert.equal(isOwn({ host, "sec-fetch-site": "same-origin" }), true);
    assert.equal(isOwn({ host, origin: "http://dock.example:1880" }), true);
    assert.equal(isOwn({ host: "dock.example", origin: "https://dock.example" }), true);
    for (const wrong of [
      {},
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site", origin: "http://dock.example:1880" },
      { "sec-fetch-site": "none" },
      { origin: "null" },
      { origin: "http://dock.example" },
      { origin: "http://dock.example:1880.evil.example" },
    ]) {
      assert.equal(isOwn({ host, ...wrong }), false, JSON.stringify(wrong));
    }
  });
});
