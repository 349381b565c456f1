export type { TelegramAddress } from "./address.ts";
export type { TelegramConfig } from "./config.ts";
export { telegram } from "./telegram.ts";
