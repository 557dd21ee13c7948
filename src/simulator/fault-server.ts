import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import { sendPlan, type Handler, type SimRequest } from "./responses.ts";
import {
  contentFaultOf,
  faultActs,
  faultyPlan,
  normalPlan,
  type AppliedFault,
  type FaultRules,
  type RequestFault,
} from "./faults.ts";
import { openPortListener, type PortListener } from "./port-listener.ts";
import { queryOf, segmentsOf } from "./paths.ts";
import type { OpenRecord, RequestLog, SurfaceName } from "./requests.ts";
import type { Timers } from "./timers.ts";

export interface FaultServerParts {
  readonly surface: SurfaceName;
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly key: string | Buffer; readonly cert: string | Buffer } | undefined;
  readonly chunked: boolean;
  readonly handler: Handler;
  readonly log: RequestLog;
  readonly faults: FaultRules;
  readonly timers: Timers;
}

async function countBody(request: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of request) {
    if (chunk instanceof Uint8Array) {
      bytes += chunk.length;
    }
  }
  return bytes;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

function targetOf(request: IncomingMessage): { path: string; query: string } {
  const [path = "", ...query] = (request.url ?? "").split("?");
  return { path, query: query.join("?") };
}

/** Serves one surface on its port: logs every request, applies the faults, and sends the handler's responses. */
export async function startFaultServer(parts: FaultServerParts): Promise<PortListener> {
  const { surface, handler, log, faults, timers, chunked } = parts;
  // The connections that a fault resets as soon as their next request arrives.
  const resetNext = new WeakMap<Socket, { readonly name: string; readonly acts: boolean }>();

  function simRequest(request: IncomingMessage, target: { path: string; query: string }): SimRequest {
    return {
      method: request.method ?? "",
      segments: segmentsOf(target.path),
      query: queryOf(target.query),
      header(name) {
        const value = request.headers[name];
        return Array.isArray(value) ? value.join(", ") : (value ?? null);
      },
      contentFault: {},
    };
  }

  const connectionTools = (
    socket: Socket,
    until?: AbortSignal,
  ): { sleep: Timers["sleep"]; reset: () => void } => ({
    sleep: (ms) => timers.sleep(ms, until),
    reset: () => listener.reset(socket),
  });

  async function respondWithFault(
    applied: AppliedFault<RequestFault>,
    asked: SimRequest,
    response: ServerResponse,
    socket: Socket,
  ): Promise<number | undefined> {
    const { fault, removed } = applied;
    if (fault.kind === "delay" && fault.before === "action") {
      await timers.sleep(fault.ms, removed);
    }
    const answer = faultActs(fault) ? await handler({ ...asked, contentFault: contentFaultOf(fault) }) : null;
    if (fault.kind === "delay" && fault.before !== "action") {
      await timers.sleep(fault.ms, removed);
    }
    if ((fault.kind === "reset" || fault.kind === "close") && fault.afterMs !== undefined) {
      await timers.sleep(fault.afterMs);
    }
    const plan = faultyPlan(fault, answer === null ? null : normalPlan(answer, chunked));
    const paceEnds = fault.kind === "drip" ? removed : undefined;
    await sendPlan(response, socket, plan, connectionTools(socket, paceEnds));
    if (fault.kind === "keep-alive-dies") {
      if (fault.when === "after-answer") {
        socket.destroySoon();
      } else {
        resetNext.set(socket, { name: applied.name, acts: fault.acts ?? false });
      }
    }
    return plan.head?.status;
  }

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    record: OpenRecord,
    target: { path: string; query: string },
  ): Promise<void> {
    const { socket } = request;
    if (hasBody(request)) {
      record.bodyBytes = await countBody(request);
    }
    const asked = simRequest(request, target);
    const pending = resetNext.get(socket);
    if (pending !== undefined) {
      record.outcome = `fault:${pending.name}`;
      if (pending.acts) {
        await handler(asked);
      }
      listener.reset(socket);
      return;
    }
    const applied = faults.faultForRequest(surface, asked.method, target.path);
    if (applied !== null) {
      record.outcome = `fault:${applied.name}`;
      const status = await respondWithFault(applied, asked, response, socket);
      if (status !== undefined) {
        record.statusCode = status;
      }
      return;
    }
    const answer = await handler(asked);
    record.statusCode = answer.status;
    await sendPlan(response, socket, normalPlan(answer, chunked), connectionTools(socket));
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const target = targetOf(request);
    const record = log.begin({
      surface,
      method: request.method ?? "",
      ...target,
      headers: request.headers,
      remoteAddress: request.socket.remoteAddress ?? "",
      remotePort: request.socket.remotePort ?? 0,
    });
    const settle = (outcome: string): void =>
      log.settle(record, record.outcome === "pending" ? outcome : record.outcome);
    response.on("finish", () => settle("answered"));
    response.on("close", () => settle("aborted-by-client"));
    serve(request, response, record, target).catch((error: unknown) => {
      settle(`simulator-error: ${error instanceof Error ? error.message : String(error)}`);
      request.socket.destroy();
    });
  }

  const server: Server =
    parts.tls === undefined ? createHttpServer(onRequest) : createHttpsServer(parts.tls, onRequest);
  const listener: PortListener = await openPortListener({
    ...parts,
    accept: (socket) => server.emit("connection", socket),
    connectionFault: () => faults.faultForConnection(surface)?.fault.kind ?? null,
  });
  return listener;
}
