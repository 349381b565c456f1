export { anthropicMessages } from "./provider.ts";
