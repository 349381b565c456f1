export { openaiChat } from "./provider.ts";
export { type ChatQuirks, chatDialects, dialectOf } from "./quirks.ts";
