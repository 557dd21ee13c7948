import assert from "node:assert/strict";
import { RecentIds } from "../../src/webhook/recent-ids.ts";

describe("the memory of recent ids", () => {
  it("knows an id by any of its names until the window is over, counted from its first arrival", () => {
    let now = 0;
    const recent = new RecentIds(10, () => now);
    recent.remember(["guid", "7"], 1000);
    now = 999;
    recent.remember(["7"], 1000);
    assert.ok(recent.knows(["7"], 1000) && recent.knows(["other", "guid"], 1000));
    now = 1000;
    assert.equal(recent.knows(["guid", "7"], 1000), false);
    assert.equal(recent.size, 0, "and nothing is kept after that");
  });

  it("forgets the oldest first where there are more than the limit", () => {
    const recent = new RecentIds(1000, () => 0);
    for (let id = 0; id < 50_000; id++) {
      recent.remember([String(id)], 60_000);
      assert.ok(recent.size <= 1000);
    }
    assert.ok(recent.knows(["49000"], 60_000));
    assert.equal(recent.knows(["48999"], 60_000), false);
  });

  it("has 100,000 at most where no other limit is given", () => {
    const recent = new RecentIds();
    for (let id = 0; id < 100_010; id++) {
      recent.remember([String(id)], 3_600_000);
    }
    assert.equal(recent.size, 100_000);
  });

  it("forgets the ids with a beginning, and no others", () => {
    const recent = new RecentIds(10, () => 0);
    recent.remember(["dock-1 A", "dock-1 B", "dock-12 A"], 1000);
    recent.forgetAll("dock-1 ");
    assert.equal(recent.knows(["dock-1 A", "dock-1 B"], 1000), false);
    assert.ok(recent.knows(["dock-12 A"], 1000));
  });

  it("remembers nothing with a window of 0", () => {
    const recent = new RecentIds(10, () => 5);
    recent.remember(["a"], 0);
    assert.equal(recent.knows(["a"], 0), false);
    assert.equal(recent.size, 0);
  });
});
