export { type FakeMistral, type MistralOptions, startMistral } from "./server.ts";
