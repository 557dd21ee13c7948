import type { Simulator } from "../../src/simulator/index.ts";
import { prefix } from "../archive/bucket-objects.ts";

/** What the flow of a fleet uses. */
export interface FleetPlaces {
  /** The fields of a store that name the database. */
  readonly database: Readonly<Record<string, unknown>>;
  readonly user: string;
  readonly bucketOrigin: string;
  readonly cloud: Simulator["cloud"];
}

const path = "dimensioner/transaction";

/** The flow that each Node-RED of a fleet runs: **transaction in** with a store, and **archive** behind it. */
export function fleetFlows({ database, user, bucketOrigin, cloud }: FleetPlaces): object[] {
  return [
    { id: "tab", type: "tab", label: "Fleet" },
    {
      id: "store",
      type: "dimensioner-store",
      files: "s3",
      bucket: "evidence",
      prefix,
      endpoint: bucketOrigin,
      database: "postgres",
      ...database,
      poolSize: 4,
      credentials: { user, accessKeyId: "AKPACKER", secretAccessKey: "secret" },
    },
    ...archivingNodes(cloud),
  ];
}

/** **transaction in** with a store, **archive** behind it, and their cloud. `next`: the nodes behind **archive**. */
export function archivingNodes(cloud: Simulator["cloud"], next: readonly string[] = []): object[] {
  const place = { z: "tab", x: 100, y: 100 };
  return [
    {
      id: "cloud",
      type: "dimensioner-cloud",
      baseUrl: cloud.origin,
      credentials: { token: cloud.token },
    },
    {
      ...place,
      id: "in",
      type: "dimensioner-transaction-in",
      path,
      secretIn: "none",
      store: "store",
      wires: [["archive"]],
    },
    {
      ...place,
      id: "archive",
      type: "dimensioner-archive",
      store: "store",
      cloud: "cloud",
      media: "list",
      expect: "image/jpeg",
      wires: [next],
    },
  ];
}

/** Posts a transaction to a Node-RED with this flow. Resolves with the status; undefined if there was no answer. */
export async function postTransaction(nodeRedUrl: string, id: string): Promise<number | undefined> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ id, errorCode: 0 });
  try {
    const response = await fetch(`${nodeRedUrl}/${path}`, {
      method: "POST",
      headers,
      body,
      signal: AbortSignal.timeout(30_000),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}
