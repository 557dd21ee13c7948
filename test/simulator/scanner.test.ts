import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";

import type { Simulator } from "../../src/simulator/index.ts";
import { openCatalogue } from "../../src/simulator/catalogue/index.ts";
import { freePort } from "../support/servers.ts";
import { readCodes } from "./read-codes.ts";
import { asObject, bytesOf, jsonOf, useSimulators } from "./support.ts";

const sscc = "395212340000004173";

/** Something that takes what the scanner sends, and each piece as it came. */
class Receiver {
  readonly socket: Socket;
  readonly pieces: string[] = [];

  constructor(socket: Socket) {
    this.socket = socket.on("error", () => undefined);
    socket.setEncoding("utf8").on("data", (piece: string) => this.pieces.push(piece));
  }

  get text(): string {
    return this.pieces.join("");
  }

  /** Waits until so much has come. */
  async until(fits: (text: string) => boolean): Promise<string> {
    while (!fits(this.text)) {
      await once(this.socket, "data");
    }
    return this.text;
  }
}

describe("simulator: scanner", () => {
  const start = useSimulators();
  const open: Socket[] = [];
  const servers: Server[] = [];
  afterEach(() => {
    open.splice(0).forEach((socket) => socket.destroy());
    servers.splice(0).forEach((server) => server.close());
  });

  async function connections(sim: Simulator, count: number): Promise<void> {
    while (sim.scanner.connections !== count) {
      await sim.nextEvent(({ type }) => type === "state");
    }
  }

  async function receiver(sim: Simulator): Promise<Receiver> {
    const before = sim.scanner.connections;
    const socket = connect(sim.scanner.port, sim.scanner.host);
    open.push(socket);
    await connections(sim, before + 1);
    return new Receiver(socket);
  }

  /** What arrives until the connection ends. */
  async function rest(of: Receiver): Promise<string> {
    if (!of.socket.closed) {
      await once(of.socket, "close");
    }
    return of.text;
  }

  it("sends the label of the parcel on the table to all that are connected", async () => {
    const sim = await start();
    const both = [await receiver(sim), await receiver(sim)];
    const { text, receivers } = await sim.scanner.scan();
    assert.deepEqual([text, receivers], [`]C100${sscc}\r\n`, 2]);
    for (const one of both) {
      assert.equal(await one.until((had) => had.endsWith("\n")), text);
    }
    sim.newer.setParcel("cube");
    assert.equal((await sim.scanner.scan()).text, "]C100395212340000005323\r\n");
    assert.equal((await sim.scanner.scan({ device: "earlier" })).text, text);
    assert.deepEqual(sim.scanner.last?.text, text);
  });

  it("sends the Data Matrix of the label with order, weight and dimensions, and FNC1 as the group separator", async () => {
    const sim = await start();
    const { text } = await sim.scanner.scan({ symbology: "gs1-datamatrix" });
    assert.equal(text, `]d200${sscc}400PO-00417\x1d3302000127331300033533230002103333000125\r\n`);
    sim.scanner.set({ separator: "<GS>", aim: false, prefix: "\x02", suffix: "\x03" });
    const other = await sim.scanner.scan({ symbology: "gs1-datamatrix" });
    assert.equal(other.text, `\x0200${sscc}400PO-00417<GS>3302000127331300033533230002103333000125\x03`);
  });

  it("sends any other code with the AIM identifier of its kind", async () => {
    const sim = await start();
    for (const [command, text] of [
      [{ code: "VIDEO_START" }, "]C0VIDEO_START\r\n"],
      [{ code: "4006381333931", symbology: "ean-13" }, "]E04006381333931\r\n"],
      [{ code: "https://example.com/01/09506000134352", symbology: "qr-code" }, undefined],
      [{ code: "10A\x1d21B", symbology: "gs1-128" }, "]C110A\x1d21B\r\n"],
      [{ code: "Größe", symbology: "datamatrix" }, "]d1Größe\r\n"],
    ] as const) {
      const sent = await sim.scanner.scan(command);
      assert.equal(sent.text, text ?? `]Q1${command.code}\r\n`);
    }
  });

  it("says that it has read nothing where there is no such code", async () => {
    const sim = await start({ scanner: { noRead: "?", suffix: "\t" } });
    assert.equal((await sim.scanner.scan({ noRead: true })).text, "?\t");
    assert.equal((await sim.scanner.scan({ symbology: "qr-code" })).text, "?\t");
    sim.newer.setParcel(null);
    assert.equal((await sim.scanner.scan()).text, "?\t");
    const custom = { lengthCm: 1, widthCm: 1, heightCm: 1, weightKg: 1 };
    sim.newer.setParcel(custom);
    assert.equal((await sim.scanner.scan()).text, "?\t");
    sim.newer.setParcel({ ...custom, barcode: "MINE" });
    assert.equal((await sim.scanner.scan()).text, "]C0MINE\t");
  });

  it("sends a scan in pieces of a few bytes, and again, like a scanner on a serial line whose label stays in view", async () => {
    const sim = await start({ scanner: { chunkBytes: 3, chunkMs: 2, repeats: 3, repeatMs: 1 } });
    const one = await receiver(sim);
    const { text } = await sim.scanner.scan();
    assert.equal(await one.until((had) => had.length >= text.length * 3), text.repeat(3));
    assert.ok(one.pieces.length > 5, `${one.pieces.length} pieces`);
    const both = await Promise.all([sim.scanner.scan({ code: "A" }), sim.scanner.scan({ code: "B" })]);
    const [a, b] = both.map((sent) => sent.text.repeat(3));
    assert.equal(await one.until((had) => had.endsWith(`${b}`)), text.repeat(3) + a + b);
  });

  it("loses its connections when it is switched off, and listens again when it is on", async () => {
    // Nobody else is given this port while it is off.
    const sim = await start({ ports: { scanner: await freePort() } });
    const one = await receiver(sim);
    sim.scanner.setPower(false);
    await once(one.socket, "close");
    assert.deepEqual(await sim.scanner.scan().then(({ text, receivers }) => [text, receivers]), ["", 0]);
    const refused = connect(sim.scanner.port, sim.scanner.host);
    const [error] = (await once(refused, "error")) as [NodeJS.ErrnoException];
    assert.equal(error.code, "ECONNREFUSED");
    const { port } = sim.scanner;
    sim.reset();
    const again = await receiver(sim);
    assert.equal(sim.scanner.port, port);
    const { text, receivers } = await sim.scanner.scan();
    assert.equal(await again.until((had) => had.length >= text.length), text);
    assert.equal(receivers, 1);
  });

  it("breaks off within a scan, as when its cable is pulled", async () => {
    const sim = await start({ scanner: { repeats: 2 } });
    const one = await receiver(sim);
    await sim.scanner.scan({ cutAtByte: 9 });
    assert.equal(await rest(one), "]C1003952");
    await connections(sim, 0);
    assert.equal((await sim.scanner.scan()).receivers, 0);
  });

  it("takes no notice of what it is sent, and closes the connection that the other side ends", async () => {
    const sim = await start();
    const one = await receiver(sim);
    one.socket.write("GET / HTTP/1.1\r\n\r\n");
    one.socket.end();
    assert.equal(await rest(one), "");
    await connections(sim, 0);
  });

  it("connects to a server, and again after each loss", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    servers.push(server);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const accepted = async (): Promise<Receiver> => {
      const [socket] = (await once(server, "connection")) as [Socket];
      open.push(socket);
      return new Receiver(socket);
    };
    const first = accepted();
    const sim = await start({ scanner: { connectTo: { host: "127.0.0.1", port } } });
    const one = await first;
    await connections(sim, 1);
    await sim.scanner.scan();
    assert.equal(await one.until((had) => had.endsWith("\n")), `]C100${sscc}\r\n`);

    const second = accepted();
    one.socket.destroy();
    await second;
    await connections(sim, 1);
    sim.scanner.setPower(false);
    await connections(sim, 0);
    const third = accepted();
    sim.scanner.setPower(true);
    const again = await third;
    await connections(sim, 1);
    await sim.scanner.scan({ code: "A" });
    assert.equal(await again.until((had) => had.endsWith("\n")), "]C0A\r\n");
  });

  it("is set and triggered by the control port, which shows its state", async () => {
    const sim = await start();
    const post = async (path: string, body: unknown): Promise<{ status: number; body: unknown }> => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(sim.control.origin + path, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      return { status: response.status, body: response.status === 204 ? null : await jsonOf(response) };
    };
    await receiver(sim);
    assert.equal((await post("/scanner", { aim: false, suffix: "\n" })).status, 204);
    const { status, body } = await post("/scanner/scan", { code: "ORDER-1" });
    assert.deepEqual([status, asObject(body)["text"], asObject(body)["receivers"]], [200, "ORDER-1\n", 1]);
    assert.equal(asObject((await post("/scanner/scan", {})).body)["text"], `00${sscc}\n`);
    const state = asObject(await jsonOf(await fetch(`${sim.control.origin}/state`)));
    const { settings, last, ...link } = asObject(state["scanner"]);
    assert.deepEqual(link, { host: "127.0.0.1", port: sim.scanner.port, on: true, connections: 1 });
    assert.deepEqual(
      [asObject(settings)["aim"], asObject(settings)["suffix"], asObject(last)["text"]],
      [false, "\n", `00${sscc}\n`],
    );
    assert.equal((await post("/scanner", { on: false })).status, 204);
    assert.equal(sim.scanner.on, false);
    for (const [path, wrong] of [
      ["/scanner", { repeats: 0 }],
      ["/scanner", { chunkBytes: -1 }],
      ["/scanner", { connectTo: { host: "example.com", port: 80 } }],
      ["/scanner/scan", { code: "" }],
      ["/scanner/scan", { symbology: "morse" }],
    ] as const) {
      assert.equal((await post(path, wrong)).status, 400, JSON.stringify(wrong));
    }
    await assert.rejects(start({ scanner: { chunkBytes: -1 } }), /cannot send 1 times, -1 bytes/);
  });
});

describe("the labels of the simulator's parcels", () => {
  const start = useSimulators();

  it("hold what the scanner sends of them, by an independent reader of barcodes", async () => {
    const sim = await start({ scanner: { suffix: "" } });
    const catalogue = openCatalogue();
    for (const parcel of catalogue.parcels) {
      const response = await fetch(`${sim.control.origin}/catalogue/${parcel.name}/label`);
      assert.equal(response.headers.get("content-type"), "image/png");
      const read = await readCodes(await bytesOf(response));
      sim.newer.setParcel(parcel.name);
      const sent = [];
      for (const symbology of ["gs1-128", "gs1-datamatrix"] as const) {
        sent.push((await sim.scanner.scan({ symbology })).text);
      }
      assert.deepEqual(read, sent, parcel.name);
    }
  });
});
