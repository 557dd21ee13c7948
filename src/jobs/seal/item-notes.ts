import { join } from "node:path";
import * as v from "valibot";
import { parseJson, recordLimits } from "../../model/parse-json.ts";
import { asFileError, namesIn, writeDurably, type ArchiveDisk } from "../../vault/archive-disk.ts";
import { itemSources, type StoredItem } from "../../vault/packages/intent.ts";
import { hashFile, openPlain } from "../../vault/packages/package-files.ts";

/** The end of a note's name, after that of its medium. No medium has this extension. */
const noteEnd = ".item";

const optionalText = v.nullable(v.string());

const noteSchema = v.object({
  slot: v.string(),
  item: v.object({
    path: v.string(),
    source: v.picklist(itemSources),
    contentId: optionalText,
    description: optionalText,
    contentTypeAnnounced: optionalText,
    contentTypeFound: optionalText,
    bytes: v.number(),
    sha256: v.string(),
    url: optionalText,
  }),
});

/** The name of the note of a medium. */
export function noteOf(name: string): string {
  return `${name}${noteEnd}`;
}

export function isNote(name: string): boolean {
  return name.endsWith(noteEnd);
}

/**
 * Notes beside a medium of a device what it is, until the database has noted it: the device may not have it any more when the
 * process is started again. The folder is not synced. Throws ERR_FILE.
 */
export async function writeNote(
  folder: string,
  slot: string,
  item: StoredItem,
  disk: ArchiveDisk,
): Promise<void> {
  const path = join(folder, noteOf(item.path));
  try {
    await writeDurably(path, JSON.stringify({ slot, item }), disk);
  } catch (error) {
    throw asFileError(error, path);
  }
}

/** Removes the note of a medium; one that stays does no harm, because the database is asked first. */
export async function removeNote(folder: string, { path }: StoredItem, disk: ArchiveDisk): Promise<void> {
  await disk.unlink(join(folder, noteOf(path))).catch(() => undefined);
}

/** Reads the notes in a folder, by slot. What was not written to its end is none. Throws ERR_FILE. */
export async function readNotes(folder: string, disk: ArchiveDisk): Promise<ReadonlyMap<string, StoredItem>> {
  const notes = new Map<string, StoredItem>();
  try {
    for (const name of (await namesIn(folder, disk)).filter(isNote)) {
      const note = decodeNote(await readText(join(folder, name), disk));
      if (note !== undefined && noteOf(note.item.path) === name) {
        notes.set(note.slot, note.item);
      }
    }
  } catch (error) {
    throw asFileError(error, folder);
  }
  return notes;
}

/** Whether a folder has a medium with a note. */
export async function hasNotedMedium(folder: string, disk: ArchiveDisk): Promise<boolean> {
  return (await notedMedia(folder, disk)).length > 0;
}

/** Hashes the media in a folder that have a note; undefined for one that cannot be read. */
export async function hashNotedMedia(
  folder: string,
  disk: ArchiveDisk,
): Promise<readonly (string | undefined)[]> {
  const hashes: (string | undefined)[] = [];
  for (const name of await notedMedia(folder, disk)) {
    hashes.push((await hashFile(join(folder, name), disk).catch(() => undefined))?.sha256);
  }
  return hashes;
}

async function notedMedia(folder: string, disk: ArchiveDisk): Promise<readonly string[]> {
  const names = new Set(await namesIn(folder, disk));
  return [...names].filter((name) => names.has(noteOf(name)));
}

async function readText(path: string, disk: ArchiveDisk): Promise<string> {
  const file = await openPlain(path, disk);
  try {
    return (await file?.readFile())?.toString("utf8") ?? "";
  } finally {
    await file?.close();
  }
}

function decodeNote(text: string): v.InferOutput<typeof noteSchema> | undefined {
  try {
    const result = v.safeParse(noteSchema, parseJson(text, recordLimits), { abortEarly: true });
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}
