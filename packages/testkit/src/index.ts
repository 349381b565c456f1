export { type FakeServer, freePort, json, listen, type SeenRequest } from "./http.ts";
export type { Script, ScriptedError, ScriptedToolCall, ScriptedTurn } from "./script.ts";
