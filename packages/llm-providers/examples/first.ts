import { createModels } from "@signalbox/llm-providers";

const models = createModels({ anthropic: { apiKey: process.env.ANTHROPIC_API_KEY } });
const answer = await models.complete("anthropic/claude-sonnet-4-6", "What is a signal box?");
console.log(answer.ok ? answer.text : answer.error.message);
