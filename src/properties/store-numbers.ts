import type { PropertyTable } from "./property-table.ts";

// Numbers of a store. Its dialog can test them before they are saved.

/** The port of a PostgreSQL server. */
export const port = { kind: "number", of: "port", default: 5432 } as const satisfies PropertyTable[string];

/** How many connections to the database one Node-RED has open at most. */
export const poolSize = { kind: "number", of: "amount", default: 5 } as const satisfies PropertyTable[string];

/** For how many days nobody can delete the objects of a new package (Object Lock); 0: they can be deleted. */
export const retainDays = {
  kind: "number",
  of: "count",
  default: 0,
} as const satisfies PropertyTable[string];
