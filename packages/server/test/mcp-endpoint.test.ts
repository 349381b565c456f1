import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { TokenRole } from "@signalbox/protocol";
import { expect, it, onTestFinished } from "vitest";
import { hashToken } from "../src/index.ts";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService } from "./memory-service.ts";

/** Starts a server and connects the official client with a token of a role. */
async function connect(role: TokenRole = "owner", service = createMemoryService()) {
  const { url, access } = await openServer(service);
  const token = role === "owner" ? TOKEN : "token-of-a-client";
  if (role !== "owner")
    await access.tokens.add({ name: "editor", role, hash: hashToken(token), createdAt: 0 });
  const client = new Client({ name: "editor", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    return { text: JSON.stringify(content), isError };
  };
  return { url, access, service, client, call };
}

it.each<[TokenRole, readonly string[]]>([
  ["owner", ["list_agents", "ask_agent", "search_memory", "list_conversations", "send_message"]],
  ["operator", ["list_agents", "ask_agent", "search_memory", "list_conversations"]],
  ["viewer", ["list_agents", "search_memory", "list_conversations"]],
  ["member", ["list_agents", "ask_agent", "list_conversations"]],
])("offers a token with the role %s only the tools of its scopes", async (role, tools) => {
  const { client, call } = await connect(role);
  const listed = (await client.listTools()).tools.map(({ name }) => name);
  expect(listed).toEqual(tools);
  for (const name of ["send_message", "search_memory", "ask_agent"].filter((one) => !tools.includes(one)))
    expect(
      (
        await call(name, { message: "x", query: "x", conversation: "known", text: "x" }).catch(() => ({
          isError: true,
        }))
      ).isError,
    ).toBe(true);
});

it("asks an agent in a new conversation, or in one that the client names, as untrusted text", async () => {
  const service = createMemoryService(({ text }) => ({ state: "replied", text: `answer to ${text}` }));
  const { call } = await connect("operator", service);
  expect((await call("ask_agent", { message: "/stop" })).text).toContain("answer to /stop");
  await call("ask_agent", { message: "again", agent: "first", conversation: "plans" });
  expect(service.submissions).toMatchObject([
    { agent: "second", verbatim: true, from: "MCP client editor", sender: { name: "editor" } },
    { agent: "first", conversation: expect.stringMatching(/user:plans$/) },
  ]);
  expect(service.submissions[0]?.conversation).toMatch(/^once:/);
});

it("reports a failed run and a refused message as errors of the tool", async () => {
  const service = createMemoryService(() => ({
    state: "failed",
    text: "",
    error: { code: "overloaded", message: "The model is busy." },
  }));
  const { call } = await connect("owner", service);
  expect(await call("ask_agent", { message: "x" })).toMatchObject({
    isError: true,
    text: expect.stringContaining("The model is busy."),
  });
  expect(await call("send_message", { conversation: "unknown", text: "x" })).toMatchObject({ isError: true });
  expect(await call("send_message", { conversation: "known", text: "hello" })).toMatchObject({
    isError: false,
  });
  expect(service.sentTexts).toEqual(["hello"]);
});

it("refuses requests without a token, from pages of other sites, and of other content types", async () => {
  const { url, access } = await connect();
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const send = async (headers: Record<string, string>) =>
    (await fetch(`${url}/mcp`, { method: "POST", body, headers })).status;
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const authorization = `Bearer ${TOKEN}`;
  expect(await send(json)).toBe(401);
  expect(await send({ ...json, authorization: "Bearer wrong" })).toBe(401);
  await access.tokens.add({
    name: "metrics",
    role: "monitor",
    hash: hashToken("token-of-metrics"),
    createdAt: 0,
  });
  expect(await send({ ...json, authorization: "Bearer token-of-metrics" })).toBe(401);
  expect(await send({ ...json, authorization, origin: "https://evil.example" })).toBe(403);
  expect(await send({ ...json, authorization, "content-type": "text/plain" })).toBe(415);
  expect(await send({ ...json, authorization })).toBe(200);
});
