import type { CopyReport } from "../model/archive-reports.ts";
import { copyArchive } from "../vault/upkeep/upkeep.ts";
import { isS3Url } from "../vault/s3/bucket-address.ts";
import {
  UsageError,
  databaseOption,
  defineVerb,
  namedStore,
  sayBytes,
  sayCount,
  storeText,
  wholeNumber,
  withFindings,
} from "./command-line.ts";

export const copy = defineVerb({
  name: "copy",
  usage: [
    "STORE s3://<bucket>/<prefix> [--retain-days <days>] [--database <file>] [--json]",
    "STORE <folder> [--database <file>] [--json]",
  ],
  description: `Copies the packages of a store in a folder, with the logs and time stamps beside them, to a bucket of an
S3-compatible object store or to another folder, such as one on a server or on a disk to take away. Each file is compared with its manifest
before it is there. A package is in the copy completely or not at all. Nothing there is replaced by another package, and nothing is deleted
there except what was interrupted more than a day ago, and the file of a hold that was released. Run it again at any time to copy what is
new, also while Node-RED is writing: what is there already is compared by its length. Afterwards, dimensioner verify with the bucket or the
folder verifies the copy. With a database, the log of the store says that there is a copy.

${storeText}`,
  options: {
    database: databaseOption,
    "retain-days": {
      type: "string",
      value: "<days>",
      help: "protect the copies in a bucket from being deleted for so long (Object Lock, governance mode)",
    },
  },
  examples: [
    "copy /srv/packages s3://evidence/parcels",
    "copy store.json s3://evidence/parcels --retain-days 365",
    "copy store.json /mnt/nas/parcels",
  ],
  exitCodes: `0 all packages of the store are in the copy, 1 some could not be copied, 2 nothing could be copied, or not
everything, 130 stopped with Ctrl+C.`,
  async run(values, positionals, signal) {
    const [, to, more] = positionals;
    if (to === undefined || more !== undefined) {
      throw new UsageError("specify one store, and the address of one bucket or one folder.");
    }
    const { address, name, database } = await namedStore(positionals.slice(0, 1));
    const days = values["retain-days"];
    if (days !== undefined && !isS3Url(to)) {
      throw new UsageError("only a bucket can protect copies: leave out --retain-days, or copy to a bucket.");
    }
    const { failed } = await withFindings(
      { verb: "copy", store: name, json: values.json === true },
      async (onFinding, onProgress) => {
        const report = await copyArchive(address, to, {
          retainDays: days === undefined ? undefined : wholeNumber("retain-days", days, 1, 36_500),
          database: values.database ?? database,
          signal,
          onProgress,
          onNotCopied: ({ path, problem }) =>
            onFinding({ path, kind: "not-copied", problem: `not copied: ${problem}` }),
        });
        return { to, ...report };
      },
      sayReport,
    );
    return failed > 0 ? 1 : 0;
  },
});

function sayReport(report: CopyReport & { readonly to: string }): string[] {
  const { to, copied, alreadyThere, failed, bytes, endedUploads } = report;
  const said = [
    `${sayCount(copied, "package")} copied, ${sayBytes(bytes)}`,
    `${alreadyThere.toLocaleString("en-US")} already there`,
    ...(failed > 0 ? [`${failed.toLocaleString("en-US")} not copied, see above`] : []),
    ...(endedUploads === null || endedUploads === 0
      ? []
      : [`${sayCount(endedUploads, "interrupted transfer")} removed`]),
  ];
  return [`${to.replace(/\?.*$/s, "")}: ${said.join("; ")}`];
}
