export type { ChatDialect } from "./check-chat.ts";
export { type FakeChatGpt, type FakeChatGptOptions, startFakeChatGpt } from "./fake-chatgpt.ts";
export { type FakeOpenAI, type OpenAIOptions, startOpenAI } from "./server.ts";
