import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { expect, it, onTestFinished } from "vitest";
import { embedderOf } from "./embeddings.ts";

const never = new AbortController().signal;

function configOf(settings: Readonly<Record<string, unknown>>) {
  return loadConfig({ file: "signalbox.json", text: JSON.stringify(settings), env: {} }).config;
}

it("looks for a static model from the home on, as for every path of the configuration", async () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const embedder = await embedderOf(configOf({ memory: { embeddings: "static:models/tiny" } }), { dir }, {});
  expect(embedder?.model).toBe("static:tiny");
  await expect(embedder?.embed(["x"], never)).rejects.toThrow(join(dir, "models", "tiny"));
});

it("asks a provider with its key and its headers", async () => {
  let headers: IncomingHttpHeaders = {};
  const server = createServer((request, response) => {
    headers = request.headers;
    response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 0] }] }));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const provider = {
    ...{ api: "openai-chat", baseUrl: `http://127.0.0.1:${port}/v1` },
    ...{ apiKey: "key-of-the-provider", headers: { "x-org": "signalbox" } },
  };
  const config = configOf({
    models: { providers: { mine: provider } },
    memory: { embeddings: "mine/model" },
  });
  const embedder = await embedderOf(config, { dir: "/" }, {});

  expect(await embedder?.embed(["x"], never)).toEqual([Float32Array.from([1, 0])]);
  expect(headers).toMatchObject({ authorization: "Bearer key-of-the-provider", "x-org": "signalbox" });
});
