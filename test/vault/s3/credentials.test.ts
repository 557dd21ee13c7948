import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { CredentialChain, type Environment } from "../../../src/vault/s3/credentials.ts";
import { withFolder } from "../../media/support.ts";

const nowhere = { AWS_EC2_METADATA_DISABLED: "true" };

/** An environment whose profile files are missing, wherever the tests run, and that waits for a server as long as it takes. */
function environment(given: Environment): Environment {
  const none = { AWS_SHARED_CREDENTIALS_FILE: "/missing/credentials", AWS_CONFIG_FILE: "/missing/config" };
  return { ...nowhere, ...none, AWS_METADATA_SERVICE_TIMEOUT: "120", ...given };
}

/** A server of credentials that knows these paths and answers from this moment on, and what it was asked. */
async function serve(answers: Readonly<Record<string, string>>, from: Promise<unknown> = Promise.resolve()) {
  const asked: string[] = [];
  const server = createServer(({ method, url = "", headers }, response) => {
    const token = headers.authorization ?? headers["x-aws-ec2-metadata-token"] ?? "no token";
    asked.push(`${method} ${url} ${String(token)}`);
    const answer = answers[url];
    void from.then(() => response.writeHead(answer === undefined ? 404 : 200).end(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, asked, close: () => server.close() };
}

const answer = (id: string, expiresInMs: number) =>
  JSON.stringify({
    AccessKeyId: id,
    SecretAccessKey: "secret",
    Token: "token",
    Expiration: new Date(Date.now() + expiresInMs).toISOString(),
  });

describe("credentials of a bucket", () => {
  it("come from the environment's variables first", async () => {
    const variables = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b", AWS_SESSION_TOKEN: "c" };
    const found = await new CredentialChain(environment(variables)).get();
    assert.deepEqual(found, { accessKeyId: "a", secretAccessKey: "b", sessionToken: "c" });
  });

  it("come from the profile that is named, in either file, or from the default one", () =>
    withFolder(async (folder) => {
      const [credentials, config] = [join(folder, "credentials"), join(folder, "config")];
      await writeFile(
        credentials,
        "[default]\naws_access_key_id = d1\naws_secret_access_key=d2\n# [dock]\n[other]\naws_access_key_id=x\n",
      );
      await writeFile(
        config,
        "[profile dock]\r\nregion = eu-west-1\r\naws_access_key_id=c1\r\naws_secret_access_key=c2\r\n[profile o]\r\n",
      );
      const files = { AWS_SHARED_CREDENTIALS_FILE: credentials, AWS_CONFIG_FILE: config };
      const idOf = async (profile: Environment) =>
        (await new CredentialChain({ ...nowhere, ...files, ...profile }).get()).accessKeyId;
      assert.deepEqual([await idOf({}), await idOf({ AWS_PROFILE: "dock" })], ["d1", "c1"]);
      await assert.rejects(idOf({ AWS_PROFILE: "other" }), { sentence: "bucketCredentials" });
    }));

  it("come from the container, and are renewed before they end or when they are refused", () =>
    withFolder(async (folder) => {
      const answers: Record<string, string> = { "/role": answer("first", 60 * 60_000) };
      const server = await serve(answers);
      try {
        const file = join(folder, "token");
        await writeFile(file, "Bearer x\n");
        const chain = new CredentialChain(
          environment({
            AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.origin}/role`,
            AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file,
          }),
        );
        const [first, same] = await Promise.all([chain.get(), chain.get()]);
        assert.equal(first, same);
        assert.deepEqual(server.asked, ["GET /role Bearer x"]);
        answers["/role"] = answer("second", 4 * 60_000);
        chain.drop(first);
        assert.equal((await chain.get()).accessKeyId, "second");
        // They would end soon, so each request asks again.
        answers["/role"] = answer("third", 60 * 60_000);
        assert.equal((await chain.get()).accessKeyId, "third");
        chain.drop(first);
        assert.equal((await chain.get()).accessKeyId, "third");
        assert.equal(server.asked.length, 3);
      } finally {
        server.close();
      }
    }));

  it("come from the role of a virtual machine", async () => {
    const path = "/latest/meta-data/iam/security-credentials/";
    const server = await serve({
      "/latest/api/token": "t",
      [path]: "dock\n",
      [`${path}dock`]: answer("machine", 60 * 60_000),
    });
    try {
      const machine = {
        AWS_EC2_METADATA_DISABLED: "false",
        AWS_EC2_METADATA_SERVICE_ENDPOINT: server.origin,
      };
      assert.equal((await new CredentialChain(environment(machine)).get()).accessKeyId, "machine");
      assert.deepEqual(server.asked, [
        "PUT /latest/api/token no token",
        `GET ${path} t`,
        `GET ${path}dock t`,
      ]);
    } finally {
      server.close();
    }
  });

  it("are not read from a response that has no end, or that leads elsewhere", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/elsewhere") {
        response.writeHead(302, { location: "/there" }).end();
        return;
      }
      if (request.url === "/there") {
        response.end(answer("there", 60 * 60_000));
        return;
      }
      const block = "x".repeat(16_384);
      const go = (): void => {
        while (!response.destroyed && response.write(block)) {
          // Until the socket is full.
        }
      };
      response.on("drain", go);
      go();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      for (const path of ["/role", "/elsewhere"]) {
        const role = { AWS_CONTAINER_CREDENTIALS_FULL_URI: origin + path };
        await assert.rejects(new CredentialChain(environment(role)).get(), { sentence: "bucketCredentials" });
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("are waited for as long as AWS_METADATA_SERVICE_TIMEOUT says", async () => {
    const givenUp = Promise.withResolvers<void>();
    const server = await serve({ "/role": answer("late", 60 * 60_000) }, givenUp.promise);
    try {
      const role = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.origin}/role` };
      const waiting = new CredentialChain(environment(role)).get();
      const impatient = new CredentialChain(environment({ ...role, AWS_METADATA_SERVICE_TIMEOUT: "1" }));
      await assert.rejects(impatient.get(), { sentence: "bucketCredentials" });
      givenUp.resolve();
      assert.equal((await waiting).accessKeyId, "late");
    } finally {
      givenUp.resolve();
      server.close();
    }
  });

  it("are asked for over plain HTTP on this computer only, and it is an error if there are none", async () => {
    for (const address of ["http://example.com/role", "file:///role", "role"]) {
      const chain = new CredentialChain(environment({ AWS_CONTAINER_CREDENTIALS_FULL_URI: address }));
      await assert.rejects(chain.get(), { code: "ERR_CONFIG", sentence: "bucketCredentials" });
    }
    await assert.rejects(new CredentialChain(environment({})).get(), { sentence: "bucketCredentials" });
  });
});
