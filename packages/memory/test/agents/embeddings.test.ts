import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createEmbedder, findMissingProvider } from "../../src/agents/index.ts";

const never = new AbortController().signal;

it("opens a static model in the folder that the host resolves", async () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const folder = (name: string): string => join(dir, name);
  const embedder = await createEmbedder("static:models/tiny", { providers: {}, env: {}, folder });
  expect(embedder?.model).toBe("static:tiny");
  await expect(embedder?.embed(["x"], never)).rejects.toThrow(join(dir, "models", "tiny"));
});

it("returns the name of an unknown provider", () => {
  expect(
    ["none", "static:x", "openai/m", "mine/m"].map((name) => findMissingProvider(name, { providers: {} })),
  ).toEqual([...[undefined, undefined, undefined], "mine"]);
  const providers = { mine: { baseUrl: "http://127.0.0.1" } };
  expect(findMissingProvider("mine/m", { providers })).toBeUndefined();
});

it("sends nothing to a disabled provider", async () => {
  const options = { providers: {}, disabled: ["openai"], env: { OPENAI_API_KEY: "key-of-the-vendor" } };
  expect(findMissingProvider("openai/m", options)).toBe("openai");
  expect(await createEmbedder("openai/m", options)).toBeUndefined();
  expect(await createEmbedder("mistral/m", options)).toBeDefined();
});

it("sends the provider's key and headers", async () => {
  let headers: IncomingHttpHeaders = {};
  const embedder = await embedAt((request, response) => {
    headers = request.headers;
    response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 0] }] }));
  });

  expect(await embedder?.embed(["x"], never)).toEqual([Float32Array.from([1, 0])]);
  expect(headers).toMatchObject({ authorization: "Bearer key-of-the-provider", "x-org": "signalbox" });
});

it("sends nothing to a server to which the provider redirects", async () => {
  const requests: (string | undefined)[] = [];
  const embedder = await embedAt((request, response) => {
    requests.push(request.url);
    response.writeHead(307, { location: "/elsewhere" }).end();
  });

  await expect(embedder?.embed(["a private note"], never)).rejects.toThrow();
  expect(requests).toEqual(["/v1/embeddings"]);
});

it("stops reading a response that is too large for its texts", async () => {
  const closed = Promise.withResolvers<void>();
  const embedder = await embedAt((_request, response) => {
    response.on("close", closed.resolve);
    const chunk = " ".repeat(100_000);
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
      response.once("drain", write);
    };
    write();
  });

  await expect(embedder?.embed(["x"], never)).rejects.toThrow("more than 500000 bytes");
  await closed.promise;
});

/** Opens an embedder of a server on loopback. */
async function embedAt(listener: RequestListener) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const mine = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    apiKey: "key-of-the-provider",
    headers: { "x-org": "signalbox" },
  };
  return createEmbedder("mine/model", { providers: { mine }, env: {} });
}
