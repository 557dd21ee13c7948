/**
 * The peer, in a process of its own: a minimal HTTP/1.1 server, so that it is never what limits a contender. Started by
 * `startServer` with the number of devices to simulate; each listens on a free port of 127.0.0.1.
 */
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { measurementAnswer } from "./measurement.ts";

/** The last part of a medium's path is its length. */
const listAnswer = listOf(
  ["40000", "image/jpeg", "AnnotatedColorImageJpeg"],
  ["40001", "image/jpeg", "ColorImageJpeg"],
  ["40002", "image/bmp", "DepthImageBmp"],
  ["40003", "video/mp4", "Video"],
);
const emptyAnswer = listOf();

function listOf(
  ...media: readonly (readonly [contentId: string, contentType: string, description: string])[]
): Buffer {
  return jsonAnswer(
    JSON.stringify(
      media.map(([contentId, contentType, description]) => ({ contentId, contentType, description })),
    ),
  );
}

const measureAnswer = jsonAnswer(measurementAnswer);
const block = Buffer.alloc(1024 * 1024, "0123456789abcdef");

function jsonAnswer(body: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

function answer(socket: Socket, path: string): void {
  const bytes = /^\/api\/transactionmedia\/[^/]+\/(\d+)$/.exec(path)?.[1];
  if (bytes !== undefined) {
    sendVideo(socket, Number(bytes));
  } else {
    socket.write(path.startsWith("/api/transactionmedia/") ? answerList(path) : measureAnswer);
  }
}

/**
 * The id of a transaction describes it: "waiting-1" has no media yet, "video-50000000-1" one video of that length, "pair-50000-1" two.
 */
function answerList(path: string): Buffer {
  const [, kind, bytes = ""] = /\/(pair|video|waiting)-(?:(\d+)-)?\d+$/.exec(path) ?? [];
  return kind === undefined
    ? listAnswer
    : kind === "waiting"
      ? emptyAnswer
      : listOf(
          [bytes, "video/mp4", "Video"],
          ...(kind === "pair" ? ([[String(Number(bytes) + 1), "video/mp4", "Depth"]] as const) : []),
        );
}

/** An MP4 of any length with valid boxes, but without real pictures. */
function sendVideo(socket: Socket, bytes: number): void {
  const boxes = Buffer.alloc(48);
  boxes.writeUInt32BE(24, 0);
  boxes.write("ftypisom\0\0\x02\0isommp42", 4, "latin1");
  boxes.writeUInt32BE(8, 24);
  boxes.write("moov", 28, "latin1");
  boxes.writeUInt32BE(1, 32);
  boxes.write("mdat", 36, "latin1");
  boxes.writeBigUInt64BE(BigInt(bytes - 32), 40);
  socket.write(`HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: ${bytes}\r\n\r\n`);
  let leftBytes = bytes - boxes.length;
  const send = (): void => {
    while (leftBytes > 0 && !socket.destroyed) {
      const piece = leftBytes >= block.length ? block : block.subarray(0, leftBytes);
      leftBytes -= piece.length;
      if (!socket.write(piece)) {
        socket.once("drain", send);
        return;
      }
    }
  };
  socket.write(boxes);
  send();
}

function serve(socket: Socket): void {
  let head = "";
  socket.setNoDelay(true);
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk) => {
    head += chunk.toString("latin1");
    for (let end = head.indexOf("\r\n\r\n"); end >= 0; end = head.indexOf("\r\n\r\n")) {
      const [, path = ""] = head.slice(0, head.indexOf("\r\n")).split(" ");
      head = head.slice(end + 4);
      answer(socket, path.split("?", 1)[0] ?? "");
    }
  });
}

async function listen(): Promise<number> {
  const server: Server = createServer(serve).listen(0, "127.0.0.1", 511);
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

process.on("disconnect", () => process.exit());
const devices = Number(process.argv[2] ?? 1);
const ports: number[] = [];
for (let index = 0; index <= devices; index++) {
  ports.push(await listen());
}
const [cloud, ...ofDevices] = ports;
process.send?.({ cloud, devices: ofDevices });
