import type { Opened } from "../support/opened.ts";
import { replyJson, startServer } from "../support/servers.ts";
import type { Row } from "./row.ts";
import { answerStep, asksFor, fileOf, transaction, type Step } from "./scripted-server.ts";
import type { Peer } from "./peer.ts";

/** A peer that responds to downloads step by step, the last step for ever, and lists this one medium. */
export async function openScriptedPeer({ script = [] }: Row, opened: Opened): Promise<Peer> {
  const complaints: string[] = [];
  const good: Step = { version: script.at(-1)?.version ?? 1 };
  let requests = 0;
  let isWell = false;
  const server = opened(
    await startServer((request, socket) => {
      if (request.target.endsWith(`/${transaction}`)) {
        replyJson(socket, [{ contentId: "film", contentType: "video/mp4", description: "ColorVideoMp4" }]);
        return;
      }
      const step = isWell ? good : (script[Math.min(requests, script.length - 1)] ?? good);
      requests++;
      if (step.asks !== undefined && step.asks !== asksFor(request)) {
        complaints.push(`request ${requests} asks for the ${asksFor(request)}`);
      }
      answerStep(step, request, socket);
    }),
  );
  return {
    origins: { newer: server, earlier: server, cloud: server },
    tls: undefined,
    id: "film",
    arm: async () => undefined,
    again: async () => undefined,
    recover: () => {
      isWell = true;
    },
    get requests() {
      return requests;
    },
    requestsTo: () => requests,
    metFault: false,
    acts: async () => 0,
    content: () => fileOf(good.version ?? 1),
    complaints: () => complaints,
  };
}
