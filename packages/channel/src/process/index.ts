export type { Launch, Launched } from "./account-process.ts";
export { inOwnProcess } from "./in-own-process.ts";
export { accountMethods, hostMethods, type Method } from "./methods.ts";
export { type Packet, packet } from "./packets.ts";
export { serveAccount } from "./serve-account.ts";
