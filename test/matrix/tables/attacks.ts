import type { OtherTest } from "./other-tests.ts";

/** What an attacker or a faulty device does; each has a test in test/attacks. */
export const attacks: Readonly<Record<string, OtherTest>> = {
  "responses, posts and messages with deep, wide and huge values": {
    holds:
      "Node-RED keeps running; each message ends once, each record that was answered with 204 is sent once.",
    file: "attacks/hostile-json.process.test.ts",
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
  "30 messages at once in every node": {
    holds: "Node.js prints no warning.",
    file: "attacks/warnings.test.ts",
    title: "in each node, also where they wait, are reset and are ended by a deploy",
  },
  "posts to the webhook with ids of 900 kB": {
    holds: "They are answered with 400, and nothing of them is kept.",
    file: "attacks/webhook-memory.process.test.ts",
    title: "ids of 900 kB are refused",
  },
  "80 posts of nearly a megabyte that never end": {
    holds: "They use 32 MB; further senders get 503 with Retry-After.",
    file: "attacks/webhook-memory.process.test.ts",
    title: "80 bodies that do not come to their end take 32 MB",
  },
  "1,500 posts to an idle flow": {
    holds: "None is refused.",
    file: "attacks/webhook-memory.process.test.ts",
    title: "an idle flow takes 1,500 posts over 10 connections without a refusal",
  },
  "deploys of every kind while records are posted": {
    holds: "Each record that was answered with 204 is sent once, on each wire.",
    file: "attacks/deploys.process.test.ts",
    title: "come out of the flow, each once, on each wire",
  },
  "a disk or share that hangs": {
    holds: "Devices, host name look-ups and deploys continue.",
    file: "attacks/hung-disk.process.test.ts",
    title: "measures by host name, and deploys in time",
  },
  "a disk that hangs in the middle of a save": {
    holds: "The save ends when it is aborted.",
    file: "attacks/hung-save.test.ts",
    title: "ends with its abort, whichever call to the disk hangs",
  },
  "a message that names a file outside the folders that nodes save into": {
    holds: "The same error, whether the file exists or not.",
    file: "attacks/message-files.test.ts",
    title: "refuses every other file with one answer, whether it exists or not",
  },
  "packages taken out of an archive": {
    holds: "dimensioner-verify finds them, or names what it could not check.",
    file: "attacks/missing-packages.test.ts",
    title: "reports each of 30 random deletions, or that it cannot be checked",
  },
};
