/** What is tried in a test of its own, since it needs a process, a disk or hours that no row has. */
export interface OtherTest {
  /** In the words of the documentation. */
  readonly holds: string;
  /** Below test/, and what stands in it. */
  readonly file: string;
  readonly title: string;
}

export const otherTests: Readonly<Record<string, OtherTest>> = {
  "Node-RED is killed during a download": {
    holds: "No file gets its final name; the next download saves the complete file.",
    file: "media/disk-faults.test.ts",
    title: "leaves no final name, only a part, and the next one saves the whole",
  },
  "Node-RED is killed at any point of an archive job": {
    holds: "Every package is complete in the end, none exists twice, every job is reported.",
    file: "archive/kill.slow.test.ts",
    title: "has every package whole in the end, none twice, nothing left over, and every job reported",
  },
  "any transaction of a store's database fails, or is executed without an answer": {
    holds: "No archive job is lost, and none is archived twice.",
    file: "archive/failing-database.slow.test.ts",
    title: "nothing is lost, archived twice or left over of jobs that are accepted meanwhile",
  },
  "Power fails while a store's database is written": {
    holds: "What was accepted before is there; the incomplete last change is not.",
    file: "database/sqlite-log.test.ts",
    title: "takes whatever a power failure leaves of the last commit as no damage",
  },
  "Node-RED is restarted with open archive jobs": {
    holds: "They are finished, and their messages sent with msg.resumed.",
    file: "nodes/archive-restart.slow.test.ts",
    title: "finishes what was accepted after the next start, and sends its message",
  },
  "several Node-REDs archive the same transactions into one folder": {
    holds:
      "Each transaction has one complete package; each Node-RED ends each message once, with that package.",
    file: "nodes/archive-shared-folder.slow.test.ts",
    title: "make one whole package of each of the same",
  },
  "40 redeploys under load": {
    holds: "Sockets, timers, listeners and memory are as before.",
    file: "leaks/leaks.slow.test.ts",
    title: "after 40 redeploys under load",
  },
  "a video of 512 MB, saved to a file": {
    holds: "Memory does not grow.",
    file: "nodes/memory.slow.test.ts",
    title: "does not grow with a video of 512 MB that goes from the cloud to a file",
  },
  "a disk slower than the network": {
    holds: "The download pauses and continues; nothing is lost or duplicated.",
    file: "http/download-pauses.test.ts",
    title: "a download whose body is not read for a while",
  },
  "a disk that is really full": {
    holds: "ERR_FILE, and no file is left.",
    file: "media/disk-faults.test.ts",
    title: "full in mid-download: says so and leaves nothing",
  },
  "proxy variables are set": {
    holds: "Devices never use them.",
    file: "http/proxies.test.ts",
    title: "of the environment are not used by any client",
  },
  "a proxy that refuses, disconnects or is not a proxy": {
    holds: "ERR_UNREACHABLE; nothing was sent.",
    file: "http/proxies.test.ts",
    title: "nothing is sent, and it is asked once",
  },
  "a connection that is reset as soon as it is made": {
    holds: "The command is not repeated, and the device does not act.",
    file: "http/every-command.test.ts",
    title: "is sent at most once if its connection is reset as soon as it is established",
  },
  "start or cancel while the saved video is downloaded": {
    holds: "They wait, because they would destroy it. Measures do not wait.",
    file: "http/saved-video.test.ts",
    title: "start and cancel wait while it is transferred",
  },
  "line breaks, quotes and markup in a reference": {
    holds: "They arrive unchanged, as one value.",
    file: "device/client.test.ts",
    title: "hostileTexts",
  },
  "a line break in a token": {
    holds: "ERR_CONFIG; no request at all.",
    file: "nodes/config-nodes.test.ts",
    title: 'token: "a\\r\\nb"',
  },
  "a path in an id: ../measure in thirty spellings": {
    holds: "ERR_INPUT; no request at all.",
    file: "security/traversal.test.ts",
    title: "no request at all",
  },
  "admin routes without a login": {
    holds: "401.",
    file: "nodes/admin-routes.process.test.ts",
    title: "need a login where there is one, and the right permission",
  },
  "names with markup in them, in a dialog": {
    holds: "They are shown as text.",
    file: "editor/admin-requests.slow.test.ts",
    title: "shows the names of devices as text",
  },
  "4,000 messages with a fault in every tenth": {
    holds: "Each ends once; sockets, timers, listeners, files and memory are as before.",
    file: "leaks/leaks.slow.test.ts",
    title: "after 4,000 messages with a fault in every tenth, each of which ended once",
  },
  "any step of any operation fails": {
    holds: "Each message still ends once, and no partial file is left.",
    file: "sweep/sweep.slow.test.ts",
    title: "has tried more than",
  },
};
