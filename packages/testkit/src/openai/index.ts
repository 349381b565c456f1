export type { ChatDialect } from "./check-chat.ts";
export { type OpenAIOptions, type OpenAIStandIn, startOpenAI } from "./server.ts";
