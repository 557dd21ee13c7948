/**
 * The thread that has SQLite databases open. SQLite's calls wait for the disk; in this thread nothing else waits with them, and they
 * use none of the four threads in which Node.js runs file operations and name look-ups.
 */
import { type MessagePort, isMainThread, parentPort, receiveMessageOnPort } from "node:worker_threads";
import { mayWait } from "./database.ts";
import { describeFailure } from "./sqlite-errors.ts";
import { SqliteFile } from "./sqlite-file.ts";
import { type ThreadAnswer, type ThreadRequest, onlyReads } from "./sqlite-messages.ts";
import { ToolFile } from "./tool-file.ts";

/**
 * How many transactions share one commit: their results arrive together, and a thousand at once would block the event
 * loop.
 */
const mostTogether = 200;

/** So long a transaction that may wait does so: the next parcel of a busy line has come by then, and a kill repeats few messages. */
const companyMs = 25;

/** After so long without a request, files are made smaller, in steps with such a pause between them. */
const [idleMs, pauseMs] = [1_000, 50];

if (!isMainThread && parentPort !== null) {
  serve(parentPort);
}

function serve(port: MessagePort): void {
  const files = new Map<number, SqliteFile | ToolFile>();
  let idle: NodeJS.Timeout | undefined;
  const shrink = (): void => {
    if ([...files.values()].some(shrinks)) {
      idle = setTimeout(shrink, pauseMs);
    }
  };
  let waiting: ThreadRequest[] = [];
  let company: NodeJS.Timeout | undefined;
  const run = (requests: readonly ThreadRequest[]): void => {
    const databases = [...new Set(requests.map(({ database }) => database))];
    port.postMessage(
      databases.flatMap((database) => {
        const all = requests.filter((request) => request.database === database);
        return serveDatabase(files, database, all);
      }),
    );
  };
  const runAll = (requests: readonly ThreadRequest[]): void => {
    clearTimeout(company);
    company = undefined;
    waiting = [];
    run(requests);
  };
  port.on("message", (first: ThreadRequest) => {
    clearTimeout(idle);
    idle = setTimeout(shrink, idleMs);
    // Requests that arrived meanwhile share one commit, and so one sync of the disk.
    const requests = [first];
    while (waiting.length + requests.length < mostTogether) {
      const next = receiveMessageOnPort(port);
      if (next === undefined) {
        break;
      }
      requests.push(next.message as ThreadRequest);
    }
    const [later, now] = [requests.filter(mayBeLater), requests.filter((one) => !mayBeLater(one))];
    if (waiting.length + later.length >= mostTogether || !now.every(isReading)) {
      runAll([...waiting, ...requests]);
      return;
    }
    waiting.push(...later);
    if (waiting.length > 0) {
      company ??= setTimeout(() => runAll(waiting), companyMs);
    }
    if (now.length > 0) {
      run(now);
    }
  });
}

function mayBeLater(request: ThreadRequest): boolean {
  return "statements" in request && request.statements[0]?.sql.endsWith(mayWait) === true;
}

function isReading(request: ThreadRequest): boolean {
  return "statements" in request && request.statements.every(onlyReads);
}

/** Makes a file smaller, if that is useful; returns whether there is more to do. */
function shrinks(file: SqliteFile | ToolFile): boolean {
  try {
    return file instanceof SqliteFile && file.shrink();
  } catch {
    // What keeps it from being made smaller, such as a full disk or another program, is told to those who write to it.
    return false;
  }
}

/** Whoever uses a database opens it first and closes it last. */
function serveDatabase(
  files: Map<number, SqliteFile | ToolFile>,
  database: number,
  requests: readonly ThreadRequest[],
): ThreadAnswer[] {
  const answers: ThreadAnswer[] = [];
  for (const { id, open } of requests.filter((one) => "open" in one)) {
    const opened = open.as === "own" ? SqliteFile.open(open) : ToolFile.open(open);
    if ("reason" in opened) {
      answers.push({ id, failure: opened });
    } else {
      files.set(database, opened);
      answers.push({ id, opened: opened.opened });
    }
  }
  const file = files.get(database);
  const transactions = requests.filter((one) => "statements" in one);
  if (transactions.length > 0) {
    answers.push(
      ...(file?.commit(transactions) ??
        transactions.map(({ id }) => ({ id, failure: { reason: "closed" } as const }))),
    );
  }
  for (const { id } of requests.filter((one) => "checked" in one)) {
    answers.push(answerTo(id, () => file instanceof SqliteFile && file.checked()));
  }
  for (const { id } of requests.filter((one) => "close" in one)) {
    files.delete(database);
    answers.push(answerTo(id, () => file?.close()));
  }
  return answers;
}

function answerTo(id: number, act: () => unknown): ThreadAnswer {
  try {
    act();
    return { id, rows: [] };
  } catch (error) {
    return { id, failure: describeFailure(error) };
  }
}
