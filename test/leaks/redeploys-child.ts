import { countPassing, read, readWarnings } from "./instruments.ts";
import { once } from "node:events";
import { createServer } from "node:http";
import type { FlowNode } from "../support/flow.ts";
import type { Places } from "./places.ts";
import { casesOf, configNodes, credentialsOf } from "./cases.ts";
import { socketsLeft } from "./idle.ts";
import { forget, startLeanFlow } from "./lean-flow.ts";
import { Load } from "./load.ts";
import type { RedeploysReport } from "./reports.ts";

/** Deploys again and again while everything runs, and reports what is left when nothing is deployed any more. */
const [given = "{}", count = "0"] = process.argv.slice(2);
const places = JSON.parse(given) as Places;
const kinds = ["full", "nodes", "flows"] as const;
const secret = "s3cret-of-the-dock";
const credentials = { ...credentialsOf(places), webhook: { secret } };
/** How many messages end between two deploys; many more are being processed. */
const endsBetween = 25;
/** After this many, all code was loaded and compiled. */
const warmUpDeploys = 20;

const flow = await startLeanFlow([], {});
const server = createServer(flow.webApp).listen(0, "127.0.0.1");
await once(server, "listening");
const address = server.address();
const port = typeof address === "object" && address !== null ? address.port : 0;

const unclosed: number[] = [];
const load = new Load(flow, places, { url: `http://127.0.0.1:${port}/in/dock`, secret });
await redeploy(warmUpDeploys);
const before = await readEmpty();
load.forget();
await redeploy(Number(count));
const after = await readEmpty();
const { begun, ended, posted, surprises, metBusy } = load;
const report: RedeploysReport = {
  before,
  after,
  begun,
  ended,
  posted,
  metBusy,
  unclosed,
  surprises: [...surprises],
  warnings: readWarnings(),
};
process.send?.(report);
server.close();
await flow.stop();
process.disconnect();

async function redeploy(times: number): Promise<void> {
  await flow.deploy(nodesOf(0), credentials);
  load.start();
  for (let round = 1; round <= times; round++) {
    await load.untilEnded(endsBetween);
    load.noteBusy(countPassing());
    const kind = kinds[round % kinds.length] ?? "full";
    await flow.deploy(nodesOf(round), credentials, kind);
    forget(flow);
  }
  await load.stop();
}

async function readEmpty(): ReturnType<typeof read> {
  await flow.deploy([]);
  await load.untilAllEnded();
  unclosed.push(await socketsLeft());
  forget(flow);
  return read([flow.events]);
}

/** The flow of one round: what is on the second tab has changed with each, and the config nodes with every seventh. */
function nodesOf(round: number): FlowNode[] {
  const { imageIdentifier, transactionId, smallId } = places;
  const on = (tab: string, id: string, type: string, more: object): FlowNode => ({
    id,
    z: tab,
    x: 100,
    y: 100,
    type: `dimensioner-${type}`,
    wires: [],
    ...more,
  });
  const name = `round ${round}`;
  return [
    { id: "tab-2", type: "tab", label: "Second" },
    ...configNodes(places).map((node) => ({
      ...node,
      checkInterval: 1,
      maxWait: 0,
      timeout: 30 + Math.floor(round / 7),
    })),
    ...casesOf(places).map(({ node }) => node),
    on("tab-2", "webhook", "transaction-in", { path: "in/dock", name }),
    on("tab-2", "download", "fetch-media", {
      cloud: "cloud",
      name,
      output: "file",
      folder: places.files,
      filename: "video.mp4",
    }),
    on("tab", "download-2", "fetch-media", { cloud: "cloud" }),
    on("tab-2", "wait", "media-list", { cloud: "cloud", name, expect: "never/comes", wait: 600 }),
    on("tab-2", "wait-video", "fetch-video", { device: "dock", name, wait: 600 }),
    on("tab-2", "job", "archive", {
      cloud: "cloud",
      name,
      store: "store",
      expect: "never/comes",
      wait: 600,
    }),
    on("tab-2", "queue", "measure", { device: "dock", name }),
    on("tab-2", "stuck", "measure", { device: "silent", name }),
    on("tab", "small", "fetch-media", { cloud: "cloud", transactionId, contentId: smallId, imageIdentifier }),
  ];
}
