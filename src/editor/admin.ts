import { sharedSentence } from "./texts.ts";

/** One question to the runtime's half of this package; the answer never rejects, and is undefined where none came. */
export interface Asked {
  readonly request: JQueryXHR;
  readonly answer: Promise<unknown>;
}

/** The path has no slash in front: then the editor adds its own root and the login. */
export function askRuntime(method: "GET" | "POST", path: string, body?: object): Asked {
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

/** The sentence that an answer names, in the editor's language; it may quote a machine, so it is text and never html. */
export function sentenceOf(answer: unknown): string {
  const { from, key, values } = isRecord(answer) ? answer : {};
  if (typeof key !== "string" || !isRecord(values)) {
    return sharedSentence("test", "noAnswer", {});
  }
  return sharedSentence(from === "errors" ? "errors" : "test", key, values);
}
