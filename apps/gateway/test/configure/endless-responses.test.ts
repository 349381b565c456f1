import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createEndlessResponse } from "@signalbox/channel/testkit";
import { expect, it, onTestFinished } from "vitest";
import { listProviderModels } from "../../src/configure/model-vendors.ts";
import { createChatGptSignIn } from "../../src/configure/subscriptions/chatgpt.ts";
import { listCopilotModels } from "../../src/configure/subscriptions/copilot.ts";
import { startCopilotSignIn } from "../../src/configure/subscriptions/copilot-sign-in.ts";

const JSON_TYPE = { "content-type": "application/json" };
const PIECE = Buffer.alloc(1_000_000, " ");

/** Starts a server whose responses end after 50 MB, and counts what its clients received. */
async function startEndlessServer() {
  const counted = { bytes: 0, isFinished: false };
  const write = (response: ServerResponse): void => {
    while (!response.destroyed && counted.bytes < 50_000_000) {
      counted.bytes += PIECE.length;
      if (!response.write(PIECE)) return void response.once("drain", () => write(response));
    }
    counted.isFinished = !response.destroyed;
    response.end("{}");
  };
  const server = createServer((request, response) => {
    request.resume();
    write(response.writeHead(200, JSON_TYPE));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, counted };
}

it("stops reading an endless list of models", async () => {
  const { url, counted } = await startEndlessServer();
  await expect(listProviderModels("openai-chat", url, undefined)).rejects.toThrow("more than 20000000 bytes");
  expect(counted.isFinished).toBe(false);
});

it("stops reading an endless list of Copilot's models", async () => {
  const { response, sentBytes } = createEndlessResponse({ headers: JSON_TYPE });
  const listed = listCopilotModels(async () => response, "https://copilot.example.com");
  await expect(listed).rejects.toThrow("more than 20000000 bytes");
  expect(sentBytes()).toBeLessThan(30_000_000);
});

it("stops reading an endless device code", async () => {
  const { url, counted } = await startEndlessServer();
  await expect(startCopilotSignIn({ clientId: "app", issuer: url })).rejects.toThrow(
    /GitHub issued no device/,
  );
  expect(counted.isFinished).toBe(false);
});

it("stops reading an endless token of ChatGPT", async () => {
  const { response, sentBytes } = createEndlessResponse({ headers: JSON_TYPE });
  const signIn = createChatGptSignIn({ issuer: "http://127.0.0.1:1", fetch: async () => response });
  const tokens = {
    subscription: "chatgpt",
    accessToken: "a",
    refreshToken: "r",
    accountId: "c",
    expiresAt: 0,
  } as const;
  await expect(signIn.refresh(tokens)).rejects.toThrow();
  expect(sentBytes()).toBeLessThan(20_000_000);
});
