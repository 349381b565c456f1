export { openaiChat } from "./provider.ts";
