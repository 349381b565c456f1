export { type GoogleOptions, type GoogleStandIn, startGoogle } from "./server.ts";
