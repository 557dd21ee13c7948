import { withSource } from "../evidence/packages.ts";
import { writeCheckpoint } from "../vault/log/events.ts";
import { LogTree } from "../vault/log/tree.ts";
import {
  databaseOption,
  defineVerb,
  namedStore,
  print,
  printableJson,
  required,
  storeText,
} from "./command-line.ts";

export const checkpoint = defineVerb({
  name: "checkpoint",
  usage: ["STORE [--database <file>] [--json]"],
  description: `Prints a checkpoint of a store's log: three lines of text that say whose log it is, how many lines it has, and the root of the hash tree
over them. Keep it where nobody who can write to the archive can change it: in another system, in an e-mail, on paper. dimensioner verify
--checkpoint then notices each change of what was in the log at that time. It only reads, and you can run it while Node-RED is writing.

${storeText}`,
  options: {
    database: { ...databaseOption, help: `${databaseOption.help}; required without a store file` },
  },
  examples: [
    "checkpoint store.json > checkpoint.txt",
    "checkpoint /srv/packages --database ~/.node-red/dimensioner",
  ],
  exitCodes: "0 printed, 2 the log cannot be read, 130 stopped with Ctrl+C.",
  async run(values, positionals, signal) {
    const { address, name, database } = await namedStore(positionals);
    const place = {
      folder: address,
      database: required("database", values.database ?? database),
      operation: "checkpoint",
    };
    const made = await withSource(
      place,
      (source) => new LogTree(source.database).checkpointOf(source.log.store),
      {
        signal,
      },
    );
    const text = writeCheckpoint(made);
    const { store, size, root } = made;
    const json = {
      verb: "checkpoint",
      store: name,
      checkpoint: text,
      log: store,
      logSize: size,
      logRoot: root.toString("base64"),
    };
    await print(values.json === true ? printableJson(json) : text.trimEnd());
    return 0;
  },
});
