export { assistantMessage, SCRIPTED_MODEL, toolCall, userMessage } from "./messages.ts";
export {
  eventsOf,
  type ScriptedModel,
  type ScriptedRequest,
  type ScriptedTurn,
  scriptedModel,
} from "./scripted-model.ts";
export { type ScriptedTool, scriptedTool } from "./scripted-tool.ts";
