import type { ChannelDefinition } from "@signalbox/channel";
import { dingtalk } from "@signalbox/channel-dingtalk";
import { discord } from "@signalbox/channel-discord";
import { feishu } from "@signalbox/channel-feishu";
import { imessage } from "@signalbox/channel-imessage";
import { signal } from "@signalbox/channel-signal";
import { slack } from "@signalbox/channel-slack";
import { telegram } from "@signalbox/channel-telegram";
import { wecom } from "@signalbox/channel-wecom";
import { whatsapp } from "@signalbox/channel-whatsapp";
import { ASSETS } from "../assets.ts";
import type { GatewayOptions } from "../gateway-options.ts";
import { accountLogger } from "./account-logger.ts";
import { type ClientFiles, openClientFiles } from "./client-files.ts";
import { createSetup, type Setup } from "./create-setup.ts";
import { INSTALLED } from "./installed.ts";
import type { Surfaces } from "./surfaces.ts";
import { createSurfaces } from "./surfaces.ts";
import { createWebFetch, type WebFetch } from "./web-fetch.ts";

/** The resolved configuration of this program. */
export interface ResolvedConfig extends Setup {
  /** Channels of the gateway's own clients. */
  readonly surfaces: Surfaces;
  /** Returns true if a channel's clients authenticate with the gateway's own token. */
  readonly isOwnChannel: (channel: string) => boolean;
  /** Files that the gateway's own clients send. */
  readonly clientFiles: ClientFiles;
  readonly web: WebFetch;
}

/** The built-in channels. */
export const builtInChannels: readonly ChannelDefinition[] = [
  dingtalk,
  discord,
  feishu,
  signal,
  imessage,
  slack,
  telegram,
  wecom,
  whatsapp,
];

/** Packages of the built-in channels, for accounts that run in their own process. */
const CHANNEL_PACKAGES = {
  dingtalk: "@signalbox/channel-dingtalk",
  discord: "@signalbox/channel-discord",
  feishu: "@signalbox/channel-feishu",
  signal: "@signalbox/channel-signal",
  imessage: "@signalbox/channel-imessage",
  slack: "@signalbox/channel-slack",
  telegram: "@signalbox/channel-telegram",
  wecom: "@signalbox/channel-wecom",
  whatsapp: "@signalbox/channel-whatsapp",
};

/** Resolves the configuration without starting anything. Also used by `config check`. */
export async function resolveConfig(
  options: Pick<GatewayOptions, "home" | "loaded" | "logger" | "env" | "channels" | "tools" | "vault">,
): Promise<ResolvedConfig> {
  const { home, loaded, logger, env, vault, channels = [], tools = [] } = options;
  const web = createWebFetch(loaded.config);
  const clientFiles = openClientFiles(home, { logger, now: Date.now });
  const surfaces = createSurfaces(web.fetch, clientFiles);
  const ownChannels = Object.values(surfaces).map(({ definition }) => definition);
  const setup = await createSetup({
    home,
    loaded,
    env,
    vault,
    tools,
    packages: INSTALLED,
    skillsDir: ASSETS.skillsDir,
    channels: [...builtInChannels, ...channels],
    channelPackages: CHANNEL_PACKAGES,
    ownChannels,
    logger: (account) => accountLogger(logger, account),
  });
  return { ...setup, surfaces, isOwnChannel: isAuthenticatedOn(ownChannels), clientFiles, web };
}

function isAuthenticatedOn(channels: readonly ChannelDefinition[]): (channel: string) => boolean {
  const authenticated = channels.filter(({ capabilities }) => capabilities.authenticatedByGateway === true);
  const ids = new Set(authenticated.map(({ id }) => id));
  return (channel) => ids.has(channel);
}
