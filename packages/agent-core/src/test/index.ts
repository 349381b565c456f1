export * from "./messages.ts";
export * from "./scripted-model.ts";
export * from "./scripted-tool.ts";
