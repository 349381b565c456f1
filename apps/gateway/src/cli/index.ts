export type { Actions } from "./definitions/command.ts";
export { createProgram } from "./program.ts";
