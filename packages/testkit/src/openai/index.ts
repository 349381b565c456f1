export type { ChatDialect } from "./check-chat.ts";
export { type FakeOpenAI, type OpenAIOptions, startOpenAI } from "./server.ts";
