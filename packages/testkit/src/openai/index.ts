export type { ChatDialect } from "./check-chat.ts";
export { type FakeChatGpt, type FakeChatGptOptions, startFakeChatGpt } from "./fake-chatgpt.ts";
export { type FakeCopilot, type FakeCopilotOptions, startFakeCopilot } from "./fake-copilot.ts";
export { type FakeOpenAI, type OpenAIOptions, startOpenAI } from "./server.ts";
