import assert from "node:assert/strict";
import { DeviceClient } from "../../src/device/client.ts";
import { inEnglish } from "../../src/errors/interpolation.ts";
import { isPrivateHost, readAddress } from "../../src/rules/addresses.ts";
import { failsWith } from "../support/failures.ts";

describe("a device's address", () => {
  const good: [string, string, string][] = [
    ["192.168.1.20", "http://192.168.1.20", "192.168.1.20"],
    [" 192.168.1.20 ", "http://192.168.1.20", "192.168.1.20"],
    ["192.168.1.20:8080", "http://192.168.1.20:8080", "192.168.1.20:8080"],
    ["192.168.1.20:80", "http://192.168.1.20", "192.168.1.20"],
    ["dock-7", "http://dock-7", "dock-7"],
    ["Dock-7.Local:81", "http://dock-7.local:81", "dock-7.local:81"],
    ["[fe80::1]", "http://[fe80::1]", "[fe80::1]"],
    ["[::1]:8080", "http://[::1]:8080", "[::1]:8080"],
    ["http://dock", "http://dock", "dock"],
    ["http://dock/", "http://dock", "dock"],
    ["HTTPS://dock:8443", "https://dock:8443", "dock:8443"],
    ["https://dock:443", "https://dock", "dock"],
    ["dock/", "http://dock", "dock"],
    ["bücher.example", "http://xn--bcher-kva.example", "xn--bcher-kva.example"],
  ];
  for (const [given, origin, host] of good) {
    it(`"${given}" is ${origin}`, () => assert.deepEqual(readAddress(given), { origin, host }));
  }

  const bad = [
    "",
    "  ",
    "dock/api",
    "http://dock/api/v1",
    "dock?x",
    "dock#x",
    "user@dock",
    "http://user:password@dock",
    "ftp://dock",
    "javascript://dock",
    "file:///etc",
    "http://",
    "http:dock",
    "//dock",
    "dock:port",
    "dock:99999",
    "dock 7",
    "dock\t7",
    "dock\r\nX: y",
    "dock\\measure",
    "dock\0",
    "192.168.1",
    "192.168.1.256",
    "192.168.01.1",
    "0x7f.1",
    "2130706433",
    "1.2.3.4.",
    "1.2.3.4.5",
    "192,168,1,20",
    '"192.168.1.20"',
    "'dock'",
    "192.168.1.20;",
    "fe80::1",
    "::1",
    "[fe80::1",
    "[fe80::1%eth0]",
    "[::1]x",
    "dock%2f..",
    "do<ck",
  ];
  const special: readonly (readonly [given: string, phrase: string])[] = [
    ["192.168.1.20\u200B", "addressInvisible"],
    ["\u202A192.168.1.20", "addressInvisible"],
    ["dock\u00AD7", "addressInvisible"],
    ["１９２.168.1.20", "addressWide"],
    ["192。168。1。20", "addressWide"],
    ["ｄｏｃｋ", "addressWide"],
    ["http：//dock", "addressWide"],
    ["[fe80::1%eth0]", "addressZone"],
    ["fe80::1%eth0", "addressZone"],
    ["http://[fe80::1%25eth0]:8080", "addressZone"],
    ["${DOCK}:8080", "addressVariable"],
    ["http://$(DOCK)", "addressVariable"],
    ["dock\u00A07", "addressCharacters"],
    ["dock%2f..", "addressUnreadable"],
  ];
  for (const [given, name] of special) {
    it(`says of ${JSON.stringify(given)} what is wrong: ${name}`, () => {
      const said = readAddress(given);
      assert.ok("problem" in said);
      assert.equal(said.problem.phrase, `phrases.${name}`);
    });
  }

  it("is private where nobody reaches it from the internet", () => {
    const inside =
      "localhost|dock|dock.local|dock.lan|127.0.0.1|10.1.2.3|172.16.0.1|172.31.255.1|192.168.1.20|169.254.1.1|100.64.0.1|[::1]|::1|[fd00::1]|[fe80::1]|[::ffff:10.0.0.1]";
    const outside =
      "example.com|8.8.8.8|172.32.0.1|100.128.0.1|192.169.1.1|[2001:db8::1]|[::ffff:8.8.8.8]|10.example.com";
    assert.deepEqual(
      inside.split("|").filter((host) => !isPrivateHost(host)),
      [],
    );
    assert.deepEqual(
      outside.split("|").filter((host) => isPrivateHost(host)),
      [],
    );
  });

  for (const given of bad) {
    it(`${JSON.stringify(given)} is none`, async () => {
      const said = readAddress(given);
      assert.ok("problem" in said, JSON.stringify(said));
      assert.match(inEnglish(said.problem), /^[a-z].*\.$/i);
      const expected = { code: "ERR_CONFIG", surface: "config", outcome: null, retryable: false } as const;
      await failsWith(
        Promise.resolve().then(() => new DeviceClient({ address: given })),
        expected,
      );
    });
  }
});
