import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { OpenEditor } from "./open-editors.ts";

/** Whether the canvas shows each wire of its tab, and none of the tab before, to be evaluated in the page. */
export const drawnWires = `(() => {
  const tab = RED.workspaces.active();
  const drawn = [...document.querySelectorAll(".red-ui-flow-link-line")];
  return drawn.length === RED.nodes.filterLinks({ source: { z: tab } }).length &&
    drawn.every((line) => line.parentNode.__data__.source.z === tab);
})()`;

/**
 * What makes the flow on the canvas hard to follow: wires that cross, and wires that run behind a node. Wires of one
 * output, and wires into one input, may meet.
 */
export function tangledWires(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const tab = RED.workspaces.active();
    const wires = [...document.querySelectorAll(".red-ui-flow-link-line")].map((path) => {
      const { source, sourcePort, target } = path.parentNode.__data__;
      const length = path.getTotalLength();
      const points = Array.from({ length: 101 }, (_, step) => path.getPointAtLength((length * step) / 100));
      const xs = points.map(({ x }) => x), ys = points.map(({ y }) => y);
      const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
      return { source, sourcePort, target, points, box, name: source.name + " " + (sourcePort + 1) + " → " + target.name };
    });
    const side = (a, b, c) => (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    const cross = (a, b, c, d) => side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
    // Two wires can only cross within both of their boxes: few of their steps are there, and in most pairs none.
    const reaches = (box, a, b) =>
      Math.max(a.x, b.x) >= box.left && Math.min(a.x, b.x) <= box.right &&
      Math.max(a.y, b.y) >= box.top && Math.min(a.y, b.y) <= box.bottom;
    const stepsWithin = ({ points }, box) =>
      points.slice(1).map((point, index) => [points[index], point]).filter(([a, b]) => reaches(box, a, b));
    const doCross = (one, other) => {
      const others = stepsWithin(other, one.box);
      return stepsWithin(one, other.box).some(([a, b]) => others.some(([c, d]) => cross(a, b, c, d)));
    };
    const meet = (one, other) =>
      one.target === other.target || (one.source === other.source && one.sourcePort === other.sourcePort);
    const covers = ({ x, y, w, h }, point) => Math.abs(point.x - x) < w / 2 && Math.abs(point.y - y) < h / 2;
    return wires.flatMap((wire, index) => [
      ...wires
        .slice(index + 1)
        .filter((other) => !meet(wire, other))
        .filter((other) => doCross(wire, other))
        .map((other) => wire.name + " crosses " + other.name),
      ...RED.nodes
        .filterNodes({ z: tab })
        .filter((node) => node !== wire.source && node !== wire.target)
        .filter((node) => wire.points.some((point) => covers(node, point)))
        .map((node) => wire.name + " runs behind " + node.name),
    ]);
  })()`);
}

/** How wide a canvas is, between the palette and the sidebar, on a screen of 1,920 pixels. */
const canvasWidth = 1200;

/**
 * What makes the canvas hard to read: nodes beyond its width, nodes that cover each other, and nodes that stand where
 * another shows its status. A status of this package has up to 32 characters; it begins below the left edge of its node.
 */
export function crowdedNodes(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const statusWidth = 200, statusHeight = 22;
    const shows = ({ type, tostatus }) => type.startsWith("dimensioner-") || tostatus === true || /^(http request|tcp |mqtt )/.test(type);
    const nodes = RED.nodes.filterNodes({ z: RED.workspaces.active() });
    const boxOf = ({ x, y, w, h }) => ({ left: x - w / 2, right: x + w / 2, top: y - h / 2, bottom: y + h / 2 });
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return nodes.flatMap((node) => {
      const box = boxOf(node);
      const status = { left: box.left, right: Math.max(box.right, box.left + statusWidth), top: box.bottom, bottom: box.bottom + statusHeight };
      const others = nodes.filter((other) => other !== node);
      return [
        ...(box.right > ${canvasWidth} || box.left < 0 ? [node.name + " is beyond the canvas"] : []),
        ...others.filter((other) => meet(box, boxOf(other))).map((other) => node.name + " covers " + other.name),
        ...(shows(node) ? others.filter((other) => meet(status, boxOf(other))).map((other) => other.name + " covers the status of " + node.name) : []),
      ];
    });
  })()`);
}

/** Draws a wire from the output of one node to the input of another. */
export async function wire(page: Page, from: string, to: string): Promise<void> {
  const output = page.locator(`[id="${from}"] .red-ui-flow-port-output .red-ui-flow-port`).first();
  const input = page.locator(`[id="${to}"] .red-ui-flow-port-input .red-ui-flow-port`).first();
  // Hovering waits until a port stands still: the editor draws its nodes some time after it has changed them.
  await input.hover();
  const end = await input.boundingBox();
  assert.ok(end);
  await output.hover();
  await page.mouse.down();
  await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 5 });
  await page.mouse.up();
  const ends = JSON.stringify({ source: { id: from }, target: { id: to } });
  await page.waitForFunction(`RED.nodes.filterLinks(${ends}).length === 1`);
}

/** Waits until the editor has the answer of a deploy: until then it keeps passwords as they were typed. */
export async function untilDeployed(page: Page): Promise<void> {
  await page.waitForFunction("!RED.nodes.dirty()");
}

/** Presses Deploy, and waits until the flows run. */
export async function deploy({ page, nodeRed }: OpenEditor): Promise<void> {
  const started = nodeRed.nextLine(/Started (?:modified )?(?:flows|nodes)/);
  await page.locator("#red-ui-header-button-deploy").click();
  await started;
  await untilDeployed(page);
}
