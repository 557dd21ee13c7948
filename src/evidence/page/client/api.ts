import * as v from "valibot";

import { periodOf, periodOfDays, type Days } from "./period.ts";
import {
  type Choices,
  choices,
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
async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`api/${path}`, init).catch(() => {
    throw new RequestError(0, "noAnswer");
  });
  if (response.ok) {
    return response;
  }
  const refused = v.safeParse(refusal, await readJson(response));
  throw refused.success
    ? new RequestError(response.status, refused.output.reason, refused.output.text)
    : new RequestError(response.status, "noAnswer");
}

async function readJson(response: Response): Promise<unknown> {
  try {
    const text = await response.text();
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  } catch {
    throw new RequestError(0, "noAnswer");
  }
}

async function call(path: string, init: RequestInit = {}): Promise<unknown> {
  return readJson(await send(path, init));
}

function posted(body: unknown): RequestInit {
  const headers = { "content-type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify(body) };
}

function post(path: string, body: unknown = {}): Promise<unknown> {
  return call(path, posted(body));
}

const one = (id: string): string => `packages/${encodeURIComponent(id)}`;

export async function readLanguage(): Promise<v.InferOutput<typeof language>> {
  return v.parse(language, await call("texts"));
}

/** Who uses the page; null if somebody has to log in first. */
export async function readMe(): Promise<Me | null> {
  return v.parse(v.nullable(me), await call("me"));
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
  readonly work: string;
  readonly film: boolean;
  readonly onHold: boolean;
  readonly incomplete: boolean;
}

export const noFilter: Filter = {
  device: "",
  work: "",
  from: "",
  to: "",
  film: false,
  onHold: false,
  incomplete: false,
};

export async function searchPackages(text: string, filter: Filter, signal: AbortSignal): Promise<Found> {
  const { device, work, film, onHold, incomplete } = filter;
  const asked = {
    period: periodOf(text),
    device,
    work,
    during: periodOfDays(filter),
    film,
    onHold,
    incomplete,
  };
  const others = Object.entries(asked)
    .filter(([, value]) => value !== "" && value !== false)
    .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
  const path = `packages?text=${encodeURIComponent(text)}${others.join("")}`;
  return v.parse(found, await call(path, { signal }));
}

/** A table of all packages that fit, as a file. */
export interface Table {
  readonly content: Blob;
  readonly filename: string;
  readonly count: number;
  /** Whether there are more than one file can have. */
  readonly more: boolean;
}

export async function askTable(text: string, filter: Filter): Promise<Table> {
  const { device, work, film, onHold, incomplete } = filter;
  const asked = { device, work, period: periodOfDays(filter), film, onHold, incomplete };
  const response = await send("tables", posted({ text, period: periodOf(text), filter: asked }));
  const content = await response.blob().catch(() => {
    throw new RequestError(0, "noAnswer");
  });
  const filename = /filename="([^"]*)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  return {
    content,
    filename: filename ?? "packages.csv",
    count: Number(response.headers.get("x-rows")),
    more: response.headers.has("x-more"),
  };
}

/** What fits the text, and is not where the packages are yet. */
export async function listUndelivered(text: string, signal: AbortSignal): Promise<Undelivered> {
  return v.parse(undelivered, await call(`undelivered?text=${encodeURIComponent(text)}`, { signal }));
}

/** The names of the devices that packages have, and the kinds of work. */
export async function listChoices(): Promise<Choices> {
  return v.parse(choices, await call("devices"));
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

/** Adds a number that was not known yet when the parcel was packed. */
export async function addNumber(id: string, number: string): Promise<Evidence> {
  return v.parse(evidence, await post(`${one(id)}/numbers`, { number }));
}

/** Asks for a ZIP of some packages, for a claim with a number if it is not blank; resolves with the address of its download. */
export async function askExport(ids: readonly string[], claim: string): Promise<string> {
  const { id } = v.parse(exported, await post("exports", { packages: ids, claim }));
  return `api/exports/${encodeURIComponent(id)}`;
}

/** The address of a file of a package, by its place in the list. */
export function fileAddress(id: string, place: number | "picture"): string {
  return `api/${one(id)}/files/${place}`;
}
