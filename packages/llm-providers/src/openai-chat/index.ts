export { openaiChat } from "./provider.ts";
export { type ChatQuirks, chatDialects, dialectOf, type ThinkingStyle } from "./quirks.ts";
