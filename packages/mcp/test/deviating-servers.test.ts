import { expect, it } from "vitest";
import { startFakeHttpServer } from "./fake-http-server.ts";
import { call, everyTool, fakeServer, startServers, text } from "./harness.ts";

/** Results with `null`, or with nothing, where the specification wants a value or no member at all. */
const DEVIATIONS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  "`nextCursor: null`": { "tools/list": { nextCursor: null } },
  "`nextCursor: 0`": { "tools/list": { nextCursor: 0 } },
  "an empty `nextCursor`": { "tools/list": { nextCursor: "" } },
  "`_meta: null`": {
    "tools/list": { _meta: null },
    "tools/call": { _meta: null },
    initialize: { _meta: null },
  },
  "`instructions: null`": { initialize: { instructions: null } },
  "`capabilities.tools.listChanged: null`": {
    initialize: { capabilities: { tools: { listChanged: null } } },
  },
  "`capabilities.prompts: null`": { initialize: { capabilities: { tools: {}, prompts: null } } },
  "`serverInfo` without a version": { initialize: { serverInfo: { name: "fake" } } },
  "`serverInfo: null`": { initialize: { serverInfo: null } },
  "a tool with null members": {
    "tools/list": {
      tools: [
        {
          name: "count",
          title: null,
          description: null,
          annotations: null,
          outputSchema: null,
          inputSchema: { type: "object", properties: null, required: null },
        },
      ],
    },
  },
  "a tool without a schema": { "tools/list": { tools: [{ name: "count" }] } },
  "a tool with a schema that is null": { "tools/list": { tools: [{ name: "count", inputSchema: null }] } },
  "`isError: null` and `structuredContent: null`": {
    "tools/call": {
      isError: null,
      structuredContent: null,
      content: [{ type: "text", text: "session 1", annotations: null, _meta: null }],
    },
  },
  "a text as the content": { "tools/call": { content: "session 1" } },
  "one block as the content": { "tools/call": { content: { type: "text", text: "session 1" } } },
  "a text among the blocks": { "tools/call": { content: ["session 1"] } },
  "a result without the members of the specification": {
    "tools/call": { content: undefined, value: "session 1" },
  },
  "a content block of an unknown type": {
    "tools/call": {
      content: [
        { type: "text", text: "session 1" },
        { type: "chart", points: [1, null] },
      ],
    },
  },
};

it.each(Object.entries(DEVIATIONS))("accepts %s over HTTP, as JSON and as a stream", async (_, results) => {
  for (const isStream of [false, true]) {
    const { url } = await startFakeHttpServer({ results, isStream });
    const servers = startServers({ web: { url } });
    const tools = await servers.tools(everyTool);
    expect(servers.status()).toMatchObject([{ state: "ready", notes: [] }]);
    expect(text(await call(tools, "mcp__web__count"))).toContain("session 1");
  }
});

it.each(Object.entries(DEVIATIONS))("accepts %s over stdio", async (_, results) => {
  const servers = startServers({
    odd: fakeServer("results", JSON.stringify(results)),
  });
  const tools = await servers.tools(everyTool);
  expect(servers.status()).toMatchObject([{ state: "ready", notes: [] }]);
  expect(tools).toHaveLength(1);
  expect(await call(tools, tools[0]?.name ?? "")).not.toHaveProperty("isError");
});

it("fails a call over stdio with an error that has no id, without waiting", async () => {
  const servers = startServers({ odd: fakeServer("errors-without-id") });
  const tools = await servers.tools(everyTool);
  await expect(call(tools, "mcp__odd__echo")).rejects.toThrow("the disk is full");
});

it("accepts messages in a list over stdio", async () => {
  const servers = startServers({ odd: fakeServer("batches") });
  const tools = await servers.tools(everyTool);
  expect(text(await call(tools, "mcp__odd__echo"))).not.toBe("");
});

it("accepts `error: null` next to a result, and a message without `jsonrpc`", async () => {
  const { url } = await startFakeHttpServer({ envelope: { error: null, jsonrpc: undefined } });
  const tools = await startServers({ web: { url } }).tools(everyTool);
  expect(text(await call(tools, "mcp__web__count"))).toBe("session 1");
});

it("accepts JSON of another content type", async () => {
  const { url } = await startFakeHttpServer({ contentType: "text/plain" });
  const tools = await startServers({ web: { url } }).tools(everyTool);
  expect(text(await call(tools, "mcp__web__count"))).toBe("session 1");
});

it("shows images in data URLs and in embedded resources", async () => {
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const resource = { uri: "file:///chart.png", mimeType: "image/png", blob: png };
  const content = [
    { type: "image", mimeType: "image/png", data: `data:image/png;base64,${png}` },
    { type: "resource", resource },
    { type: "resource", resource: { ...resource, mimeType: "application/zip" } },
  ];
  const { url } = await startFakeHttpServer({ results: { "tools/call": { content } } });
  const tools = await startServers({ web: { url } }).tools(everyTool);
  const result = await call(tools, "mcp__web__count");
  expect(result.content.map((block) => (block.type === "image" ? block.source : block))).toEqual([
    { type: "text", text: "[a file: file:///chart.png]" },
    { kind: "base64", data: png },
    { kind: "base64", data: png },
  ]);
});

it("keeps null where it is a value: in schemas and in structured content", async () => {
  const inputSchema = {
    type: "object",
    properties: { colour: { enum: ["red", null], default: null } },
  };
  const { url } = await startFakeHttpServer({
    results: {
      "tools/list": { tools: [{ name: "count", inputSchema }] },
      "tools/call": { content: [], structuredContent: { colour: null, list: [1, null] } },
    },
  });
  const tools = await startServers({ web: { url } }).tools(everyTool);
  expect(tools[0]?.inputSchema).toMatchObject(inputSchema);
  expect(text(await call(tools, "mcp__web__count"))).toBe('{"colour":null,"list":[1,null]}');
});

it("returns the text of a result that has both text and structured content", async () => {
  const { url } = await startFakeHttpServer({
    results: {
      "tools/call": { content: [{ type: "text", text: "4 items" }], structuredContent: { items: 4 } },
    },
  });
  const tools = await startServers({ web: { url } }).tools(everyTool);
  expect(text(await call(tools, "mcp__web__count"))).toBe("4 items");
});

it("fails the call, and keeps the connection, if a result over stdio is too large", async () => {
  const servers = startServers({ huge: fakeServer("huge-line") });
  const tools = await servers.tools(everyTool);
  await expect(call(tools, "mcp__huge__echo")).rejects.toThrow("sent more than 10000000 bytes");
  expect(servers.status()).toMatchObject([{ state: "ready" }]);
  expect(await servers.tools(everyTool)).toHaveLength(1);
});

it("logs the note about a tool that was left out, once", async () => {
  const logged: string[] = [];
  const servers = startServers(
    { odd: fakeServer("list-changes") },
    { onLog: (_server, line) => void logged.push(line) },
  );
  for (let times = 0; times < 3; times++) {
    const tools = await servers.tools(everyTool);
    await call(tools, "mcp__odd__echo");
  }
  expect(logged).toEqual(["mcp__odd__list has no schema"]);
});
