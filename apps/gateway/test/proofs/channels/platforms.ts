import { startDingTalkPlatform } from "./dingtalk.ts";
import { startBlueBubblesPlatform, startImsgPlatform } from "./imessage.ts";
import type { KilledPlatform } from "./platform.ts";
import { startSignalPlatform } from "./signal.ts";
import { startWecomPlatform } from "./wecom.ts";
import { startWhatsAppPlatform } from "./whatsapp.ts";

/** Platforms by name. Those of the older channels are part of the crash proof. */
export const startPlatforms: Readonly<Record<string, () => Promise<KilledPlatform>>> = {
  dingtalk: startDingTalkPlatform,
  imessage: startImsgPlatform,
  bluebubbles: startBlueBubblesPlatform,
  signal: startSignalPlatform,
  wecom: startWecomPlatform,
  whatsapp: startWhatsAppPlatform,
};
