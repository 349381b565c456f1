export type { SignalAddress } from "./address.ts";
export type { SignalConfig } from "./config.ts";
export { signal } from "./signal.ts";
