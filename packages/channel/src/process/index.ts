export type { Launch, Launched } from "./account-process.ts";
export { type Frame, frame } from "./frames.ts";
export { inOwnProcess } from "./in-own-process.ts";
export { accountMethods, hostMethods, type Method } from "./methods.ts";
export { serveAccount } from "./serve-account.ts";
