import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { listen } from "../../support/servers.ts";
import { fixtures } from "./fixtures.ts";

/** Whether the tests can ask OpenSSL itself; where it is missing, those on its stored time stamps still run. */
export const hasOpenSsl = String(spawnSync("openssl", ["version"]).stdout).startsWith("OpenSSL 3");

/** Runs OpenSSL; rejects with what it says if it fails. */
export async function openssl(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("openssl", args);
  return stdout;
}

/** A time stamp server on a free port of 127.0.0.1: `openssl ts` behind HTTP. */
export interface Authority {
  readonly url: string;
  /** The headers of all requests so far. */
  readonly requests: readonly IncomingMessage["headers"][];
  /** Signs with another certificate from now on. */
  signWith(signer: Signer): void;
  close(): Promise<void>;
}

const settings = `[tsa]
default_tsa = server
[server]
default_policy = 1.2.3.4.1
digests = sha256
signer_digest = sha256
ess_cert_id_alg = sha256
accuracy = secs:1
`;

/** The certificate of "rsa" is issued by the root, that of "ecdsa" by the certificate between them. */
type Signer = "ecdsa" | "rsa";

interface AuthorityOptions {
  readonly signer?: Signer;
  /** Asks for this user name and password, "name:password". */
  readonly login?: string;
  /** Responds in another way; returns whether it has. */
  readonly instead?: (response: ServerResponse) => boolean;
}

export async function startAuthority({
  signer: firstSigner = "rsa",
  login,
  instead = () => false,
}: AuthorityOptions = {}): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), "authority-"));
  for (const name of ["rsa.crt", "rsa.key", "ecdsa.crt", "ecdsa.key", "middle.crt"]) {
    await copyFile(join(fixtures, name), join(folder, name));
  }
  const at = (name: string): string => join(folder, name);
  await writeFile(at("settings"), `${settings}serial = ${at("serial")}\n`);
  const requests: IncomingMessage["headers"][] = [];
  let signer = firstSigner;

  const respond = async (request: IncomingMessage): Promise<Buffer> => {
    await writeFile(at("request"), await buffer(request));
    const keys = ["-signer", at(`${signer}.crt`), "-inkey", at(`${signer}.key`), "-chain", at("middle.crt")];
    const files = ["-config", at("settings"), "-queryfile", at("request"), "-out", at("response")];
    await openssl("ts", "-reply", ...files, ...keys);
    return readFile(at("response"));
  };
  // One at a time, because they share files.
  let last: Promise<unknown> = Promise.resolve();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push(request.headers);
    const given = request.headers.authorization;
    if (login !== undefined && given !== `Basic ${Buffer.from(login).toString("base64")}`) {
      response.writeHead(401).end();
    } else if (!instead(response)) {
      const isQuery = request.headers["content-type"] === "application/timestamp-query";
      const mine = last.then(() => respond(request));
      last = mine.catch(() => undefined);
      const content = await mine;
      response.writeHead(isQuery ? 200 : 415, { "content-type": "application/timestamp-reply" }).end(content);
    }
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/tsr`,
    requests,
    signWith(other) {
      signer = other;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await last;
      await rm(folder, { recursive: true });
    },
  };
}

/** For a suite: a server that runs until the suite has ended. The suite is skipped where OpenSSL is missing. */
export function useAuthority(options: AuthorityOptions = {}): Omit<Authority, "close"> {
  let started: Authority | undefined;
  const running = (): Authority => started ?? assert.fail("the suite has not begun");
  before(async function () {
    if (!hasOpenSsl) {
      this.skip();
    }
    started = await startAuthority(options);
  });
  after(() => started?.close());
  return {
    get url() {
      return running().url;
    },
    get requests() {
      return running().requests;
    },
    signWith(signer) {
      running().signWith(signer);
    },
  };
}
