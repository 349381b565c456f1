import { expect, it } from "vitest";
import { z } from "zod";
import { Agent, type AgentEvent, defineTool } from "./index.ts";
import { assistantMessage, SCRIPTED_MODEL, scriptedModel, toolCall } from "./test/index.ts";

function agentWith(tool: ReturnType<typeof defineTool>, args: object) {
  const { stream, requests } = scriptedModel(
    assistantMessage([toolCall("1", tool.name, JSON.parse(JSON.stringify(args)))]),
    "done",
  );
  const agent = new Agent({ model: SCRIPTED_MODEL, stream, system: { stable: "" }, tools: [tool] });
  return { agent, requests };
}

it("answers with a text, from arguments as the schema makes them", async () => {
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

it("takes a JSON Schema, and says what is wrong with arguments in its terms", async () => {
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

it("is external unless it says otherwise, and tells it how much room there is for a result", async () => {
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
