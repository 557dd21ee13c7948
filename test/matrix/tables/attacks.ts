import type { OtherTest } from "./other-tests.ts";

/** What an attacker or a faulty device does; each has a test in test/attacks. */
export const attacks: Readonly<Record<string, OtherTest>> = {
  "responses, posts and messages with deep, wide and huge values, and texts that look like references": {
    holds:
      "Node-RED keeps running; each message ends once, each record that was answered with 204 is sent once.",
    file: "attacks/hostile-json.process.slow.test.ts",
    title: "end no process, and each message of each node, with two wires behind it, ends exactly once",
  },
  "a message that Node-RED cannot copy": {
    holds: "ERR_INPUT before anything is sent.",
    file: "attacks/messages-at-work.test.ts",
    title: "are refused before anything acts",
  },
  "messages that come faster than they end": {
    holds: "ERR_QUEUE_FULL beyond 1,000 messages in one node.",
    file: "attacks/messages-at-work.test.ts",
    title: "end in ERR_QUEUE_FULL while a node is processing 1,000 others",
  },
  "messages with 1,000 MB of data": {
    holds:
      "ERR_QUEUE_FULL beyond that in one node; messages without data and those of resumed archive jobs are processed.",
    file: "attacks/messages-at-work.test.ts",
    title: "end in ERR_QUEUE_FULL while a node holds 1 GB of data in others",
  },
  "downloads of 1,000 MB into Buffers": {
    holds: "ERR_QUEUE_FULL beyond that in one node.",
    file: "attacks/messages-at-work.test.ts",
    title: "end in ERR_QUEUE_FULL where their downloads would hold more than 1 GB",
  },
  "messages for the same archive job without an end": {
    holds: "ERR_QUEUE_FULL beyond 11,000 in one node; a deploy ends them in ERR_CANCELLED.",
    file: "attacks/messages-at-work.test.ts",
    title: "end in ERR_QUEUE_FULL while an archive is processing 11,000 others",
  },
  "30 messages at once in every node": {
    holds: "Node.js prints no warning.",
    file: "attacks/warnings.test.ts",
    title: "in each node, also where they wait, are reset and are ended by a deploy",
  },
  "posts to the webhook with ids of 900 kB": {
    holds: "They are answered with 400, and nothing of them is kept.",
    file: "attacks/webhook-memory.process.slow.test.ts",
    title: "ids of 900 kB are refused",
  },
  "80 posts of nearly a megabyte that never end": {
    holds: "They use 32 MB; further senders get 503 with Retry-After.",
    file: "attacks/webhook-memory.process.slow.test.ts",
    title: "80 bodies that do not come to their end take 32 MB",
  },
  "1,500 posts to an idle flow": {
    holds: "None is refused.",
    file: "attacks/webhook-memory.process.slow.test.ts",
    title: "an idle flow takes 1,500 posts over 10 connections without a refusal",
  },
  "deploys of every kind while records are posted": {
    holds: "Each record that was answered with 204 is sent once, on each wire.",
    file: "attacks/deploys.process.slow.test.ts",
    title: "come out of the flow, each once, on each wire",
  },
  "a disk or share that hangs": {
    holds: "Devices, host name look-ups and deploys continue.",
    file: "attacks/hung-disk.process.slow.test.ts",
    title: "measures by host name, and deploys in time",
  },
  "a disk that hangs in the middle of a save": {
    holds: "The save ends when it is aborted.",
    file: "attacks/hung-save.slow.test.ts",
    title: "ends with its abort, whichever call to the disk hangs",
  },
  "a message that names a file outside the folders that nodes save into": {
    holds: "The same error, whether the file exists or not.",
    file: "attacks/message-files.test.ts",
    title: "refuses every other file with one answer, whether it exists or not",
  },
  "packages taken out of an archive": {
    holds: "dimensioner verify finds them, or names what it could not check.",
    file: "attacks/missing-packages.slow.test.ts",
    title: "reports each of 30 random deletions, or that it cannot be checked",
  },
  "a measurement of 2.4 MB in each of five open jobs": {
    holds: "The next start finishes them all.",
    file: "attacks/archive-store.slow.test.ts",
    title: "A2: the largest answer that is taken",
  },
  "flipped bits in a store's database": {
    holds: "The only copy of a medium is never deleted.",
    file: "attacks/archive-store.slow.test.ts",
    title: "A4: whichever bit of the database is flipped",
  },
  "flipped bits in a package": {
    holds: "It is never reported as already archived; a whole one is made beside it.",
    file: "attacks/archive-evidence.slow.test.ts",
    title: 'is never "already archived": a whole one is made beside it',
  },
  "another measurement with the same ID": {
    holds: "It gets a package of its own, and the log a warning.",
    file: "attacks/archive-evidence.slow.test.ts",
    title: "another measurement under the same id gets a package of its own",
  },
  "folders of an archive's work replaced by links": {
    holds: "Nothing that a link points to is deleted.",
    file: "attacks/archive-store.slow.test.ts",
    title: "replaced by a link deletes nothing of what the link points to",
  },
  "a disk that stays full": {
    holds: "It is not filled further by trying again.",
    file: "attacks/archive-store.slow.test.ts",
    title: "A12: a disk that stays full is not filled by the attempts themselves",
  },
  "a clock that is 400 days behind when a job is accepted": {
    holds: "The job is not given up after a restart.",
    file: "attacks/archive-store.slow.test.ts",
    title: "A14: a job that was accepted by a clock 400 days behind",
  },
  "more archive jobs than may be open": {
    holds: "ERR_QUEUE_FULL, until one is done.",
    file: "attacks/archive-evidence.slow.test.ts",
    title: "open jobs are bounded in number",
  },
  "a restart with many open jobs": {
    holds: "They ask the cloud again 20 times a second at most.",
    file: "attacks/archive-evidence.slow.test.ts",
    title: "ask the cloud again 20 times a second at most",
  },
};
