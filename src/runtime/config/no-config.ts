/** For a node that needs no config node. */
export const noConfig = { problem: () => undefined, surface: () => "config" as const };
