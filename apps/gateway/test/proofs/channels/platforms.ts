import { startDingTalkPlatform } from "./dingtalk.ts";
import type { KilledPlatform } from "./platform.ts";
import { startWhatsAppPlatform } from "./whatsapp.ts";

/** Platforms by the channel's id. Those of the older channels are part of the crash proof. */
export const startPlatforms: Readonly<Record<string, () => Promise<KilledPlatform>>> = {
  dingtalk: startDingTalkPlatform,
  whatsapp: startWhatsAppPlatform,
};
