export { newId } from "./id.ts";
export { type ParsedClientFrame, parseClientFrame, parseServerFrame } from "./parse.ts";
export * from "./wire.ts";
