export { freePort, json, listen, type SeenRequest, type StandIn } from "./http.ts";
export type { Script, ScriptedError, ScriptedToolCall, ScriptedTurn } from "./script.ts";
