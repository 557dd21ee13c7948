import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Finding, VerifyArchiveOptions, VerifyReport } from "../../src/model/archive-reports.ts";
import { verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { withFolder } from "../media/support.ts";
import { databaseOf } from "./store.ts";
import { intentOf, openArchive, pictureOf, until } from "./support.ts";

/**
 * Archives some packages that messages have brought, each in a millisecond of its own. Returns their paths in the order of their chain.
 */
export async function fillArchive(
  root: string,
  ids: readonly string[],
  intentOfId: (id: string, index: number) => Parameters<typeof intentOf>[1] = () => ({}),
  options: Parameters<typeof openArchive>[2] = {},
): Promise<string[]> {
  const { runner, close } = await openArchive(root, undefined, options);
  const paths: string[] = [];
  for (const [index, id] of ids.entries()) {
    const media = [0, 1].map((place) => ({
      content: pictureOf(`${id} ${place}`),
      contentType: "image/jpeg",
      contentId: null,
      description: null,
      filename: null,
    }));
    const intent = intentOf(id, { origin: null, raw: "{}", ...intentOfId(id, index) });
    const submission = await runner.submitMedia(intent, media, null);
    paths.push((await submission.end()).path);
    submission.messageSent();
    const archivedBy = Date.now();
    await until(() => Date.now() > archivedBy, "the clock goes on");
  }
  await close();
  return paths;
}

/** What a verification says, all of it as "kind path" in the order in which it is said. */
export interface Said {
  readonly report: VerifyReport;
  readonly findings: readonly Finding[];
  readonly said: readonly string[];
}

/** Verifies with the database of `fillArchive`, or another one, or none. */
export async function verify(
  folder: string,
  database: VerifyArchiveOptions["database"] | null = databaseOf(folder),
  options: Parameters<typeof verifyArchive>[1] = {},
): Promise<Said> {
  const findings: Finding[] = [];
  const report = await verifyArchive(folder, {
    ...options,
    database: database ?? undefined,
    onFinding: (finding) => findings.push(finding),
  });
  const said = [...findings, ...report.unchecked].map(({ kind, path }) => `${kind} ${path}`);
  return { report, findings, said };
}

/** Changes a closed database with SQL that this package would never run. */
export function changeDatabase(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** Lets the rows of jobs stay that would go with their messages. */
export function keepEndedJobs(file: string): void {
  changeDatabase(file, "CREATE TRIGGER kept BEFORE DELETE ON jobs BEGIN SELECT raise(IGNORE); END");
}

/** Prunes as a run does that is killed before it removes the rows of what it has deleted. */
export async function keepingRows<T>(file: string, prune: () => Promise<T>): Promise<T> {
  changeDatabase(file, "CREATE TABLE kept AS SELECT * FROM packages");
  const result = await prune();
  const left = "SELECT * FROM kept WHERE package_id NOT IN (SELECT package_id FROM packages)";
  changeDatabase(file, `INSERT INTO packages ${left}; DROP TABLE kept`);
  return result;
}

/** For a suite: an archive with some packages that is made once, of which each test gets a copy. */
export function copiesOfArchive(ids: readonly string[], intentOfId?: Parameters<typeof fillArchive>[2]) {
  let template = "";
  let paths: readonly string[] = [];
  before(async () => {
    template = await realpath(await mkdtemp(join(tmpdir(), "archive-")));
    paths = await fillArchive(template, ids, intentOfId);
  });
  after(() => rm(template, { recursive: true }));
  return {
    /** Of its packages, in the order of their chain. */
    get paths() {
      return paths;
    },
    async withArchive(body: (root: string, file: string) => Promise<void>): Promise<void> {
      await withFolder(async (root) => {
        await cp(template, root, { recursive: true });
        changeDatabase(databaseOf(root), `UPDATE store SET folder = '${root}'`);
        await body(root, databaseOf(root));
      });
    },
  };
}
