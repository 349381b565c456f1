export { type FakeGoogle, type GoogleOptions, startGoogle } from "./server.ts";
