import * as v from "valibot";

import { periodOf, periodOfDays, type Days } from "./period.ts";
import {
  devices,
  evidence,
  exported,
  found,
  language,
  me,
  refusal,
  undelivered,
  verification,
  type Evidence,
  type Found,
  type Me,
  type Undelivered,
  type Verification,
} from "./shapes.ts";

/** A request that was refused or failed. */
export class RequestError extends Error {
  /** 0: there was no answer. */
  readonly status: number;
  readonly reason: string;
  /** The sentence of the server, if it has one. */
  readonly text: string | undefined;

  constructor(status: number, reason: string, text?: string) {
    super(reason);
    this.name = "RequestError";
    this.status = status;
    this.reason = reason;
    this.text = text;
  }
}

/** Sends a request. Rejects with a RequestError; also if the signal aborts it. */
async function call(path: string, init: RequestInit = {}): Promise<unknown> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(`api/${path}`, init);
    const text = await response.text();
    body = text === "" ? undefined : JSON.parse(text);
  } catch {
    throw new RequestError(0, "noAnswer");
  }
  if (response.ok) {
    return body;
  }
  const refused = v.safeParse(refusal, body);
  throw refused.success
    ? new RequestError(response.status, refused.output.reason, refused.output.text)
    : new RequestError(response.status, "noAnswer");
}

function post(path: string, body: unknown = {}): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  return call(path, { method: "POST", headers, body: JSON.stringify(body) });
}

const one = (id: string): string => `packages/${encodeURIComponent(id)}`;

export async function readLanguage(): Promise<v.InferOutput<typeof language>> {
  return v.parse(language, await call("texts"));
}

export async function readMe(): Promise<Me> {
  return v.parse(me, await call("me"));
}

export async function logIn(name: string, password: string): Promise<void> {
  await post("login", { name, password });
}

export async function logOut(): Promise<void> {
  await post("logout");
}

/** What only packages have that are shown. */
export interface Filter extends Days {
  /** "" for all. */
  readonly device: string;
  readonly film: boolean;
  readonly onHold: boolean;
  readonly incomplete: boolean;
}

export const noFilter: Filter = {
  device: "",
  from: "",
  to: "",
  film: false,
  onHold: false,
  incomplete: false,
};

export async function searchPackages(text: string, filter: Filter, signal: AbortSignal): Promise<Found> {
  const { device, film, onHold, incomplete } = filter;
  const asked = { period: periodOf(text), device, during: periodOfDays(filter), film, onHold, incomplete };
  const others = Object.entries(asked)
    .filter(([, value]) => value !== "" && value !== false)
    .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
  const path = `packages?text=${encodeURIComponent(text)}${others.join("")}`;
  return v.parse(found, await call(path, { signal }));
}

/** What fits the text, and is not where the packages are yet. */
export async function listUndelivered(text: string, signal: AbortSignal): Promise<Undelivered> {
  return v.parse(undelivered, await call(`undelivered?text=${encodeURIComponent(text)}`, { signal }));
}

/** The names of the devices that packages have. */
export async function listDevices(): Promise<readonly string[]> {
  return v.parse(devices, await call("devices")).devices;
}

export async function readPackage(id: string, signal: AbortSignal | null = null): Promise<Evidence> {
  return v.parse(evidence, await call(one(id), { signal }));
}

export async function verifyPackage(id: string): Promise<Verification> {
  return v.parse(verification, await post(`${one(id)}/verify`));
}

/** Puts a package on hold, or releases it from the hold that it has. Is refused if its hold is not this one. */
export async function changeHold({ packageId, hold }: Evidence, reason: string): Promise<Evidence> {
  const [what, heldAt] = hold === null ? ["hold", null] : ["release", hold.heldAt];
  return v.parse(evidence, await post(`${one(packageId)}/${what}`, { reason, heldAt }));
}

/** Asks for a ZIP of some packages; resolves with the address of its download. */
export async function askExport(ids: readonly string[]): Promise<string> {
  const { id } = v.parse(exported, await post("exports", { packages: ids }));
  return `api/exports/${encodeURIComponent(id)}`;
}

/** The address of a file of a package, by its place in the list. */
export function fileAddress(id: string, place: number | "picture"): string {
  return `api/${one(id)}/files/${place}`;
}
