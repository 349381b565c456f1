export type { Address } from "./address.ts";
export type { Config } from "./config.ts";
export { channel as default } from "./definition.ts";
