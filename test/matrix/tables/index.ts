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

/** All rows, which are about single operations. */
export const families: readonly Family[] = [
  { title: "The connection", rows: connection },
  { title: "The status of the response", rows: httpStatus },
  { title: "The content of the response", rows: payload },
  { title: "The measurement", rows: results },
  { title: "What the device does", rows: deviceBehaviour },
  { title: "Images and videos", rows: downloads },
];
