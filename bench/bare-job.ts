/** What a job is compared with: a script that downloads a transaction's media into a folder, with hashes and syncs, and promises nothing. */
import { createHash } from "node:crypto";
import { mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";

async function sync(path: string): Promise<void> {
  const folder = await open(path, "r");
  await folder.sync();
  await folder.close();
}

async function write(folder: string, name: string, content: Buffer | string): Promise<object> {
  const file = await open(join(folder, name), "wx");
  await file.writeFile(content);
  await file.sync();
  await file.close();
  return { name, sha256: createHash("sha256").update(content).digest("hex") };
}

export async function archiveBare(
  root: string,
  cloud: string,
  id: string,
  measurement: string,
): Promise<void> {
  const media = `${cloud}/api/transactionmedia/${id}`;
  const list = (await (await fetch(media)).json()) as { contentId: string; description: string }[];
  const folder = join(root, `.${id}`);
  await mkdir(folder);
  const files = [await write(folder, "measurement.json", measurement)];
  for (const { contentId, description } of list) {
    const answer = await fetch(`${media}/${contentId}`);
    files.push(await write(folder, `${description}.mp4`, Buffer.from(await answer.arrayBuffer())));
  }
  await write(folder, "manifest.json", JSON.stringify({ id, at: new Date(), files }));
  await sync(folder);
  await rename(folder, join(root, id));
  await sync(root);
  const log = await open(join(root, "log"), "a");
  await log.writeFile(`${id} ${JSON.stringify(files)}\n`);
  await log.sync();
  await log.close();
}
