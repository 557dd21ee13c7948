import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

interface Page {
  queue(topic: string, payload: string): void;
  heard(message: object): void;
  sendAgain(): void;
}

const file = join(import.meta.dirname, "../../src/station/page/screen.ts");
const { default: screen } = (await import(pathToFileURL(file).href)) as {
  default: { methods: Page };
};

/** What a page of example 30 sends and says, without what it draws. */
function pageOf(sent: object[], said: string[]): Page {
  const own = {
    station: "dock-1",
    state: { phase: "idle" },
    t: { notReceived: "Node-RED has not confirmed it." },
    offset: 0,
    pending: [],
    $socket: { connected: true },
    send: (message: object) => sent.push(message),
    fail: (text: string) => said.push(text),
    named: (text: string) => text,
  };
  return { ...screen.methods, ...own };
}

describe("what a packing station's page sends", () => {
  const { now } = Date;
  afterEach(() => {
    Date.now = now;
  });

  it("is given up six seconds after it was sent first, also if a message of Node-RED was late before", () => {
    let time = 1_000_000;
    Date.now = () => time;
    const [sent, said]: [object[], string[]] = [[], []];
    const page = pageOf(sent, said);
    const alive = (at: number) => page.heard({ station: "dock-1", topic: "alive", payload: { now: at } });
    alive(time - 3_000);
    page.queue("scan", "ORDER-1");
    time += 3_500;
    alive(time);
    page.sendAgain();
    time += 2_000;
    page.sendAgain();
    assert.deepEqual([sent.length, said], [3, []]);
    time += 600;
    page.sendAgain();
    assert.deepEqual([sent.length, said], [3, ["Node-RED has not confirmed it."]]);
  });

  it("is given up, and said, if the browser's clock was put back before it was confirmed", () => {
    let time = 100_000_000;
    Date.now = () => time;
    const [sent, said]: [object[], string[]] = [[], []];
    const page = pageOf(sent, said);
    page.queue("scan", "ORDER-1");
    page.queue("scan", "ORDER-2");
    time -= 3_600_000;
    page.sendAgain();
    assert.deepEqual([sent.length, said], [1, ["Node-RED has not confirmed it."]]);
    page.queue("scan", "ORDER-3");
    assert.equal(sent.length, 2, "the next one is sent");
  });
});
