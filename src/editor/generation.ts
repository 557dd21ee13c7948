import { shared } from "./texts.ts";

/** Whether a device config node is of the earlier generation, which takes no references. */
export function isEarlier(device: object): boolean {
  return Reflect.get(device, "generation") === "earlier";
}

/** For nodes that need images or video: what is wrong with a device that only measures. */
export function needsNewer(device: object): string | null {
  const generation: unknown = Reflect.get(device, "generation");
  return generation === undefined || generation === "newer" ? null : shared("problem.deviceMeasuresOnly");
}
