import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "..", "..");
const execute = promisify(execFile);

const header = `
import { Readable, type Writable } from "node:stream";
import {
  CloudClient, DeviceClient, DimensionerError, isRetryable, pruneArchive, readToBuffer, rebuildIndex, saveToFile,
  verifyArchive, type BufferedMedia, type Download, type ErrorCode, type Finding, type SavedFile,
} from ${JSON.stringify(join(root, "src", "index.ts"))};
declare const cloud: CloudClient;
declare const device: DeviceClient;
declare const download: Download;
declare const writable: Writable;
`;

/** What people write; the compiler has to take it. */
const uses: Readonly<Record<string, string>> = {
  "a body is looped over":
    "for await (const chunk of (await cloud.media('1', '2')).body) console.log(chunk);",
  "a body is piped": "download.body.pipe(writable);",
  "a body becomes a web stream":
    "const web: ReadableStream = Readable.toWeb(download.body) as ReadableStream; web;",
  "the headers are facts":
    "const type: string | null = download.contentType; const bytes: number | null = download.contentLength; [type, bytes];",
  "a download is saved":
    "const saved: SavedFile = await saveToFile(download, { folder: '/x' }); saved.sha256;",
  "a download is saved with all options":
    "await saveToFile(download, { folder: '/x', filename: 'a/b.jpg', suggestedName: 'b', ifExists: 'error', signal: AbortSignal.timeout(9) });",
  "a download is read":
    "const { payload }: BufferedMedia = await readToBuffer(await device.image('color', 'i')); payload.length;",
  "a video is waited for":
    "await device.video('stream', { waitMs: 9, waitSignal: AbortSignal.timeout(9), onProgress: (done, total) => console.log(done, total) });",
  "an archive is verified":
    "const { verdict } = await verifyArchive('/x', { database: ['/y'], onFinding: ({ kind }: Finding) => kind }); verdict === 'ok';",
  "an archive is pruned":
    "const { leftoversKept } = await pruneArchive('/x', { before: new Date(), database: '/y' }); leftoversKept?.length;",
  "an index is rebuilt": "(await rebuildIndex('/x', { database: '/y' })).movedTo?.length;",
  "an error is told by its code":
    "const error: unknown = 0; if (isRetryable(error)) { const code: ErrorCode = error.code; code; }",
};

/** What goes wrong at run time; the compiler has to refuse it. */
const misuses: Readonly<Record<string, string>> = {
  "a download that was not awaited": "await saveToFile(cloud.media('1', '2'), { folder: '/x' });",
  "a body in place of its download": "await saveToFile(download.body, { folder: '/x' });",
  "no folder": "await saveToFile(download, {});",
  "no options": "await saveToFile(download);",
  "pruning without an age": "await pruneArchive('/x', { dryRun: true });",
  "rebuilding no database": "await rebuildIndex('/x', {});",
  "another answer to a name that is taken":
    "await saveToFile(download, { folder: '/x', ifExists: 'overwrite' });",
  "an option that there is not": "await readToBuffer(download, { maxBytes: 9 });",
  "an image of a kind that there is not": "await device.image('infrared', 'i');",
  "a sink in place of options": "await cloud.media('1', '2', { write: () => true });",
  "the length of a body of unknown length": "const bytes: number = download.contentLength; bytes;",
  "a fact of a download that is changed": "download.contentType = 'x';",
  "an id that is a number": "await cloud.media(1, '2');",
  "a video by a method that there is not": "await device.video('fetch');",
  "a code that there is not":
    "declare const error: DimensionerError; if (error.code === 'ERR_NONE') throw error;",
};

describe("the types of the library", () => {
  let folder: string;
  /** What the compiler says of each file. */
  let said: ReadonlyMap<string, string>;
  const files = [...Object.entries(uses), ...Object.entries(misuses)];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "types-"));
    for (const [index, [, code]] of files.entries()) {
      await writeFile(join(folder, `file-${index}.ts`), `${header}${code}\n`);
    }
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        extends: join(root, "tsconfig.base.json"),
        compilerOptions: {
          noEmit: true,
          lib: ["es2024", "dom"],
          types: ["node"],
          typeRoots: [join(root, "node_modules", "@types")],
          module: "nodenext",
          moduleResolution: "nodenext",
          moduleDetection: "force",
          allowImportingTsExtensions: true,
          rewriteRelativeImportExtensions: false,
          noUnusedLocals: false,
        },
        include: ["*.ts", join(root, "src", "simulator", "raw-json.d.ts")],
      }),
    );
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
    const { stdout } = await execute(process.execPath, [compiler, "--project", folder, "--pretty", "false"], {
      cwd: folder,
    }).catch((error: { stdout?: string }) => ({ stdout: error.stdout ?? "it could not be run" }));
    const lines = stdout.split("\n").filter((line) => line !== "" && !line.startsWith(" "));
    const strange = lines.filter((line) => !/^file-\d+\.ts\(/.test(line));
    assert.deepEqual(strange, []);
    said = new Map(lines.map((line) => [line.slice(0, line.indexOf("(")), line]));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  for (const [index, [name]] of files.entries()) {
    const isMisuse = name in misuses;
    it(`${isMisuse ? "refuse" : "take"}: ${name}`, () => {
      const error = said.get(`file-${index}.ts`);
      assert.equal(error !== undefined, isMisuse, error ?? "it compiles");
    });
  }
});
