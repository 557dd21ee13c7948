/**
 * A process of its own that saves one file, for the tests that need another user, a mount or a kill.
 * Argument: JSON with folder, filename, ifExists, bytes, and perhaps stallAfter: so many bytes come, then no more.
 * Prints one line of JSON: the saved file, or code and sentence of the error; "stalled" where it stalls.
 */
import type { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { saveToFile } from "../../src/media/save-to-file.ts";
import { blocks, facts, sending } from "./support.ts";

interface Task {
  folder: string;
  filename: string;
  ifExists: "rename" | "replace" | "error";
  bytes: number;
  stallAfter?: number;
}

async function* stalling(bytes: number): AsyncGenerator<Uint8Array> {
  yield* blocks(bytes);
  console.log("stalled");
  await new Promise(() => setInterval(() => undefined, 1000));
}

const task = JSON.parse(process.argv[2] ?? "") as Task;
const { stallAfter } = task;

try {
  const saved = await saveToFile(
    sending(stallAfter === undefined ? blocks(task.bytes) : stalling(stallAfter)),
    { ...task, suggestedBase: "x" },
    facts,
  );
  console.log(JSON.stringify(saved));
} catch (error) {
  const { code, sentence, message } = error as DimensionerError;
  console.log(JSON.stringify({ code, sentence, message }));
}
