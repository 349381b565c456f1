export type { WhatsAppAddress } from "./address.ts";
export type { WhatsAppConfig } from "./config.ts";
export { whatsapp } from "./whatsapp.ts";
