import { Agent, defineTool } from "@signalbox/agent-core";
import { createModels } from "@signalbox/llm-providers";

const models = createModels({ local: { api: "openai-chat", baseUrl: "http://127.0.0.1:11434/v1" } });
const resolved = models.resolve("local/qwen3");
if (!resolved.ok) throw new Error(resolved.problem.message);
const clock = defineTool({
  name: "clock",
  description: "Tells the time.",
  input: { type: "object", properties: {} },
  execute: async () => new Date().toISOString(),
});
const agent = new Agent({ ...resolved, system: { stable: "You tell the time." }, tools: [clock] });
const result = await agent.prompt("What time is it?");
console.log(result.text || result.error?.message);
