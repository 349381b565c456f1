import { expect, it } from "vitest";
import { z } from "zod";
import { untyped } from "../test/untyped.ts";
import {
  Agent,
  type AgentEvent,
  defineTool,
  type JsonObject,
  type Tool,
  type ToolDefinition,
  textOf,
} from "./index.ts";
import { assistantMessage, SCRIPTED_MODEL, scriptedModel, toolCall } from "./test/index.ts";

function agentWith(tool: ReturnType<typeof defineTool>, args: object) {
  const { stream, requests } = scriptedModel(
    assistantMessage([toolCall("1", tool.name, JSON.parse(JSON.stringify(args)))]),
    "done",
  );
  const agent = new Agent({ model: SCRIPTED_MODEL, stream, tools: [tool] });
  return { agent, requests };
}

it("calls execute with the output of the schema", async () => {
  const weather = defineTool({
    name: "weather",
    description: "The weather of a city.",
    input: z.object({ city: z.string(), days: z.number().default(2) }),
    execute: ({ city, days }, { callId }) => `${callId}: sun in ${city} for ${days} days`,
  });
  const { agent, requests } = agentWith(weather, { city: "Oslo" });
  await agent.prompt("How is Oslo?");
  expect(requests[1]?.messages.at(-1)).toMatchObject({
    role: "toolResult",
    content: [{ type: "text", text: "1: sun in Oslo for 2 days" }],
    isError: false,
  });
  expect(requests[0]?.context.tools).toMatchObject([
    { name: "weather", inputSchema: { required: ["city"] } },
  ]);
});

it("accepts a JSON Schema and reports wrong arguments in its terms", async () => {
  const weather = defineTool({
    name: "weather",
    description: "The weather of a city.",
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    execute: ({ city }) => ({ content: [], details: { city } }),
  });
  const { agent, requests } = agentWith(weather, { town: 1 });
  await agent.prompt("How is Oslo?");
  expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain("/city: is missing");
});

it("is external by default, and passes the maximum length of a result to execute", async () => {
  let room = 0;
  const tool = defineTool({
    name: "t",
    description: "A tool.",
    input: { type: "object" },
    execute: (_args, { resultChars }) => {
      room = resultChars;
      return "";
    },
  });
  expect(tool.effects).toBe("external");
  const events: AgentEvent[] = [];
  for await (const event of agentWith(tool, {}).agent.prompt("go")) events.push(event);
  expect(room).toBe(64_000);
  expect(events.find((event) => event.type === "tool.end")?.outcome).toBe("ok");
});

it("reports an object that a tool returns to the model as JSON", async () => {
  const weather = defineTool({
    name: "weather",
    description: "Returns the weather.",
    input: { type: "object" },
    execute: async () => ({ city: "Oslo", celsius: 21 }),
  });
  const { agent, requests } = agentWith(weather, {});
  await agent.prompt("How is Oslo?");
  expect(requests[1]?.messages.at(-1)).toMatchObject({
    content: [{ type: "text", text: '{"city":"Oslo","celsius":21}' }],
    isError: false,
  });
});

it("accepts a text, an object or a result as progress", async () => {
  const tool = defineTool({
    name: "t",
    description: "A tool.",
    input: { type: "object" },
    async execute(_args, { update }) {
      for (const progress of ["half", { done: 0.7 }, { content: [{ type: "text", text: "all" }] } as const]) {
        update(progress);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return "done";
    },
  });
  const shown: string[] = [];
  for await (const event of agentWith(tool, {}).agent.prompt("go"))
    if (event.type === "tool.update") shown.push(textOf(event.partial.content));
  expect(shown).toEqual(["half", '{"done":0.7}', "all"]);
});

it("rejects a tool without an input schema, and names the remedy", () => {
  const written = { name: "w", description: "A tool.", parameters: { type: "object" }, execute: () => "" };
  const refused = expect.objectContaining({
    code: "invalid_tool",
    message: expect.stringContaining('Tool "w" has no input schema. Set `input`'),
  });
  expect(() => defineTool(untyped<ToolDefinition<JsonObject>>(JSON.stringify(written)))).toThrow(refused);
  const { stream } = scriptedModel("ok");
  const tools = [untyped<Tool>(JSON.stringify(written))];
  const agent = new Agent({ model: SCRIPTED_MODEL, stream, tools });
  return expect(agent.prompt("go").result()).rejects.toEqual(refused);
});
