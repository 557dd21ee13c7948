import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import {
  createServer as createHttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { filesIn, readJson, served, sha256 } from "./archive.ts";
import { startExamples, withEnv, type ExamplesRun } from "./several-examples.ts";

const barcode = "395212340000004173";
const scan = "Scan a parcel";

interface Post {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

describe("the examples 13, 14, 16, 17 and 18, in one Node-RED", () => {
  let run: ExamplesRun;
  /** Stands for the chat and for the ERP. */
  const web = createHttpServer((request, response) => void take(request, response));
  let posts: Post[] = [];
  /** What the server answers, one after the other; 201 afterwards. */
  let statuses: number[] = [];
  const printer = createTcpServer({ allowHalfOpen: true });

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    posts.push({ headers: request.headers, body: await buffer(request) });
    response.writeHead(statuses.shift() ?? 201).end();
  }

  before(async () => {
    const url = `http://127.0.0.1:${await listening(web)}/`;
    const port = await listening(printer);
    const values = { CHAT_URL: url, ERP_URL: url, PRINTER: "127.0.0.1", PRINTER_PORT: String(port) };
    run = await startExamples(["13", "14", "16", "17", "18"], {
      adapt: (node) => {
        // One alert a minute is too few for a test.
        const quick =
          node.type === "delay" && node["pauseType"] === "rate" ? { rate: "1000", rateUnits: "second" } : {};
        return { ...withEnv(node, values), ...quick };
      },
    });
  });
  beforeEach(() => {
    run.simulator.reset();
    posts = [];
    statuses = [];
  });
  after(async () => {
    await run?.close();
    web.closeAllConnections();
    web.close();
    printer.close();
  });

  const formOf = ({ headers, body }: Post): Promise<FormData> =>
    new Response(new Uint8Array(body), {
      headers: { "content-type": headers["content-type"] ?? "" },
    }).formData();

  const hear = async (example: string, button: string, debug: string): Promise<string> =>
    (await run.press(example, button, [debug])).get(debug) ?? "";

  it("13 saves the result, the exact answer and the image of a parcel in a folder of their own", async () => {
    const folder = await hear("13", scan, "Saved");
    assert.deepEqual(await filesIn(folder), ["annotated.jpg", "answer.json", "result.json"]);
    const result = await readJson(join(folder, "result.json"));
    assert.equal(result["transactionReference"], barcode);
    const answer = await readJson(join(folder, "answer.json"));
    assert.equal(answer["imageIdentifier"], result["imageIdentifier"]);
    const { newer } = run.simulator;
    const image = await served(
      `${newer.origin}/api/v1/image/annotatedcolor/${String(result["imageIdentifier"])}`,
    );
    assert.equal(sha256(await readFile(join(folder, "annotated.jpg"))), sha256(image));
    assert.ok(folder.startsWith(join(run.files, barcode)), folder);
  });

  it("14 tells what has become of the parcel, whatever the error is", async () => {
    const { newer, faults } = run.simulator;
    faults.add({ surface: "newer", path: "/api/v1/image", fault: { kind: "status", status: 404 } });
    await hear("14", scan, "Measured, but reading failed: read again");
    faults.add({ surface: "newer", path: "/api/v1/measure", fault: { kind: "reset" } });
    await hear("14", scan, "Outcome unknown: check the device first");
    newer.setParcel(null);
    await hear("14", scan, "Measurement failed: reposition the parcel");
    newer.setLocalApi(false);
    await hear("14", scan, "Not measured: correct it and scan again");
    newer.setPower(false);
    await hear("14", scan, "Not measured: correct it and scan again");
  });

  describe("16: alerts", () => {
    it("posts the device, the reference, what to do and the image of what could not be measured", async () => {
      // The camera has seen the parcel, and could not measure it.
      const set = { errorCode: 7, errorMessage: "Unable to measure" };
      run.simulator.faults.add({
        surface: "newer",
        path: "/api/v1/measure",
        fault: { kind: "json-patch", set },
      });
      const said = await run.press("16", scan, ["Posted", "Replace with your e-mail node"]);
      const [post, ...others] = posts;
      assert.ok(post !== undefined && others.length === 0);
      const form = await formOf(post);
      const content = form.get("content");
      assert.ok(typeof content === "string");
      assert.match(content, new RegExp(`^Dock 1: .*Reposition the parcel.*\nReference: ${barcode}$`));
      const file = form.get("files[0]");
      assert.ok(file instanceof File);
      assert.equal(file.type, "image/jpeg");
      assert.equal(Buffer.from(await file.arrayBuffer()).readUInt16BE(0), 0xffd8);
      assert.match(said.get("Replace with your e-mail node") ?? "", /Dock 1: parcel not measured/);
    });

    it("does not call a parcel unmeasured that may have been measured", async () => {
      run.simulator.faults.add({ surface: "newer", path: "/api/v1/measure", fault: { kind: "reset" } });
      const said = await run.press("16", scan, ["Posted", "Replace with your e-mail node"]);
      assert.match(said.get("Replace with your e-mail node") ?? "", /"topic":"Dock 1: check the device"/);
      assert.match(said.get("Replace with your e-mail node") ?? "", new RegExp(`Reference: ${barcode}"`));
    });

    it("posts without an image where there is none", async () => {
      run.simulator.newer.setParcel(null);
      await run.press("16", scan, ["Posted", "Replace with your e-mail node"]);
      run.simulator.newer.setPower(false);
      await run.press("16", scan, ["Posted", "Replace with your e-mail node"]);
      const [failed, unreachable] = await Promise.all(posts.map(formOf));
      assert.match(JSON.stringify(failed?.get("content")), /^"Dock 1: Measurement failed/);
      assert.match(JSON.stringify(unreachable?.get("content")), /^"Dock 1: No connection/);
      assert.equal(unreachable?.get("files[0]"), null);
    });
  });

  describe("17: label printer", () => {
    // The first one here, because no label has been printed yet.
    it("says that there is no label to print again", async () => {
      assert.equal(
        await hear("17", "Print the last label again", "There is no label yet"),
        "Scan a parcel first.",
      );
    });

    it("prints the reference, the dimensions and the device, and the same label again", async () => {
      const print = async (button: string): Promise<string> => {
        const connected = once(printer, "connection") as Promise<[Socket]>;
        await run.press("17", button, ["Sent"]);
        const [socket] = await connected;
        const label = await text(socket);
        socket.end();
        return label;
      };
      const label = await print(scan);
      assert.match(label, /^\^XA\^CI28\n/);
      assert.ok(label.includes(`^FH^FD${barcode}^FS`), label);
      assert.match(label, /33\.5 _c3_97 21 _c3_97 12\.5 cm, 1\.27 kg/);
      assert.match(label, /Dock 1 {2}\d{4}-/);
      assert.match(label, /\^XZ\n$/);
      assert.equal(await print("Print the last label again"), label);
      assert.equal(run.simulator.newer.actions.measures, 1);
    });
  });

  describe("18: result to an ERP", () => {
    it("posts again after 503, as the same request, and measures once", async () => {
      statuses = [503];
      await hear("18", scan, "Stored");
      const [first, second, ...others] = posts;
      assert.ok(first !== undefined && second !== undefined && others.length === 0);
      assert.equal(second.body.toString(), first.body.toString());
      const body = JSON.parse(first.body.toString()) as Record<string, unknown>;
      assert.equal(body["reference"], barcode);
      assert.equal(typeof body["length"], "number");
      assert.equal(body["device"], "Dock 1");
      assert.equal(first.headers["idempotency-key"], body["id"]);
      assert.equal(second.headers["idempotency-key"], body["id"]);
      assert.equal(run.simulator.newer.actions.measures, 1);
    });

    it("asks a person where the ERP refuses, and shows what to post again", async () => {
      statuses = [422];
      const told = JSON.parse(await hear("18", scan, "What to do")) as {
        error: { message: string };
        erp: { body: unknown };
      };
      assert.match(
        told.error.message,
        new RegExp(`has not stored ${barcode}: 422\\. The parcel is measured.* post msg\\.erp\\.body`),
      );
      const [post, ...others] = posts;
      assert.deepEqual(others, []);
      assert.deepEqual(told.erp.body, JSON.parse(post?.body.toString() ?? ""));
    });

    it("asks for the address of the ERP where none is set", async () => {
      await run.redeploy((node) => withEnv(node, { ERP_URL: "" }));
      assert.match(await hear("18", scan, "What to do"), /Set ERP_URL in the properties of this tab/);
      assert.deepEqual(posts, []);
      await run.redeploy();
    });
  });
});
