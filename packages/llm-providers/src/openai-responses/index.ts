export { openaiResponses } from "./provider.ts";
