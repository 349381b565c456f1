export type * from "./content.ts";
export type * from "./json.ts";
export type * from "./messages.ts";
export type * from "./model.ts";
export type * from "./tool.ts";
