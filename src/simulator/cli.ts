#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";

import { packageVersion } from "../package/package-files.ts";
import { readArguments, type Command } from "./cli-arguments.ts";
import { helpText } from "./cli-help.ts";
import { UsageError } from "./cli-values.ts";
import { webhookReporter } from "./cli-webhooks.ts";
import { startSimulator, type RequestRecord, type Simulator, type StartOptions } from "./index.ts";
import { isLoopback } from "./options.ts";

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printStart({ newer, earlier, cloud, scanner, control, options }: Simulator): void {
  print(`newer device    ${newer.origin}   (${newer.state.mode})`);
  print(`earlier device  ${earlier.origin}`);
  print(`cloud           ${cloud.origin}   token ${cloud.token}, registration code ${options.deviceCode}`);
  const to = options.scanner.connectTo;
  print(
    `scanner         ${scanner.host}:${scanner.port}   for a tcp in node that connects to it` +
      (to === null ? "" : `; it also connects to ${to.host}:${to.port}`),
  );
  print(`control         ${control.origin}   open it in a browser`);
  const [first, ...others] = options.webhooks;
  print(`webhook         ${first?.url ?? "none"}`);
  others.forEach(({ url }) => print(`                ${url}`));
  if (first?.header !== undefined) {
    print(`                with the header ${first.header.name}: ${first.header.value}`);
  }
  print(`seed            ${options.seed}   --seed ${options.seed} repeats the IDs and values of this run`);
  print("Press Ctrl+C to stop the simulator.");
}

function printRequest({
  at,
  surface,
  method,
  path,
  query,
  outcome,
  statusCode,
  tookMs,
}: RequestRecord): void {
  const clock = new Date(at).toTimeString().slice(0, 8);
  const what = `${method} ${path}${query === "" ? "" : `?${query}`}`;
  const result = outcome === "answered" ? String(statusCode) : `${outcome} ${statusCode ?? ""}`.trim();
  print(`${clock}  ${surface.padEnd(7)}  ${what}  ->  ${result}  ${tookMs ?? 0} ms`);
}

/** A sentence for an error at the start. */
function sentence(error: unknown, { ports }: StartOptions): string {
  const facts = error instanceof Error ? error : new Error(String(error));
  const code = "code" in facts ? facts.code : null;
  const port = "port" in facts ? facts.port : null;
  const name = Object.entries(ports ?? {}).find(([, wanted]) => wanted === port)?.[0] ?? "newer";
  if (code === "EADDRINUSE") {
    return `Port ${String(port)} is in use by another program. Choose another with --${name}-port, or 0 for any free one.`;
  }
  if (code === "EACCES") {
    return `This user is not allowed to open port ${String(port)}. Choose one above 1023.`;
  }
  if (code === "EADDRNOTAVAIL") {
    return "This computer has no such address. Choose another --host.";
  }
  return facts.message;
}

async function run(command: Extract<Command, { do: "run" }>): Promise<void> {
  const sim = await startSimulator(command.options);
  const { host } = sim.options;
  if (!isLoopback(host)) {
    process.stderr.write(`Warning: everyone who can reach ${host} can use and control this simulator.\n`);
  }
  printStart(sim);
  const urls = sim.options.webhooks.map(({ url }) => url);
  const report = webhookReporter(urls, print);
  sim.onEvent((event) => {
    if (event.type === "webhook") {
      report(event.post);
    }
  });
  if (!command.quiet) {
    sim.onSettled(printRequest);
  }
  const end = (): void => {
    process.off("SIGINT", end).off("SIGTERM", end);
    void sim.close();
  };
  process.on("SIGINT", end).on("SIGTERM", end);
}

async function main(args: readonly string[]): Promise<void> {
  let options: StartOptions = {};
  try {
    const command = readArguments(args);
    if (command.do === "help") {
      process.stdout.write(helpText);
    } else if (command.do === "version") {
      print(packageVersion().version);
    } else {
      ({ options } = command);
      await run(command);
    }
  } catch (error) {
    const usage = error instanceof UsageError;
    process.stderr.write(`${sentence(error, options)}${usage ? " See --help." : ""}\n`);
    process.exitCode = usage ? 2 : 1;
  }
}

// This process may run for weeks beside Node-RED: without the flag V8 lets garbage grow to several times of what is in use.
setFlagsFromString("--optimize-for-size");

// The reader of the output has ended, as in `dimensioner-simulator | head`: continue without it.
process.stdout.on("error", () => undefined);
await main(process.argv.slice(2));
