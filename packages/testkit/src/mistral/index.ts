export { type MistralOptions, type MistralStandIn, startMistral } from "./server.ts";
