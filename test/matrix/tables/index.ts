import type { Rows } from "../row.ts";
import { connection } from "./connection.ts";
import { deviceBehaviour } from "./device-behaviour.ts";
import { downloads } from "./downloads.ts";
import { httpStatus } from "./http-status.ts";
import { payload } from "./payload.ts";
import { results } from "./results.ts";

export interface Family {
  readonly title: string;
  readonly rows: Rows;
}

/** All that can be said of single operations. */
export const families: readonly Family[] = [
  { title: "The connection", rows: connection },
  { title: "The status of the answer", rows: httpStatus },
  { title: "The content of the answer", rows: payload },
  { title: "The measurement", rows: results },
  { title: "What the device does", rows: deviceBehaviour },
  { title: "Pictures and videos", rows: downloads },
];
