import { sharedSentence } from "./texts.ts";

/** A request to the admin API of this package. `answer` never rejects; it is undefined if there was no response. */
export interface AdminCall {
  readonly request: JQueryXHR;
  readonly answer: Promise<unknown>;
}

/** The path has no leading slash, so that the editor adds its own root path and the login. */
export function callAdmin(method: "GET" | "POST", path: string, body?: object): AdminCall {
  const request = $.ajax(path, {
    method,
    dataType: "json",
    ...(body === undefined ? {} : { contentType: "application/json", data: JSON.stringify(body) }),
  });
  const answer = new Promise<unknown>((resolve) => {
    request.then(
      (said: unknown) => resolve(said),
      () => resolve(undefined),
    );
  });
  return { request, answer };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/**
 * The sentence that a response names, in the editor's language. It may quote a device, so it is inserted as text, never
 * as HTML.
 */
export function sentenceOf(answer: unknown): string {
  const { from, key, values } = isRecord(answer) ? answer : {};
  if (typeof key !== "string" || !isRecord(values)) {
    return sharedSentence("test", "noAnswer", {});
  }
  return sharedSentence(from === "errors" ? "errors" : "test", key, values);
}
