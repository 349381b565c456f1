export { anthropicMessages, connectAnthropic } from "./provider.ts";
