export { account as accountMethods, type Frame, frame, host as hostMethods, type Method } from "./frames.ts";
export { inOwnProcess } from "./in-own-process.ts";
export { serveAccount } from "./serve-account.ts";
