import {
  type ChannelContext,
  ChannelError,
  createNames,
  type Identity,
  isPayload,
  objectAt,
  type Payload,
  textAt,
  unlessRefused,
} from "@signalbox/channel";
import { isSnowflake } from "./address.ts";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";
import { limits } from "./limits.ts";

/** Who the bot and others are. */
export interface People {
  /** Asks Discord at the first call; proves the token. */
  self(signal: AbortSignal): Promise<Identity>;
  known(): Identity | undefined;
  /** A person's name; undefined where it cannot be found out. Never throws. */
  name(userId: string, signal: AbortSignal): Promise<{ readonly name: string } | undefined>;
  /** The role of a server that came with the bot: people mention it in place of the bot. */
  ownRole(guildId: string, signal: AbortSignal): Promise<string | undefined>;
  /** A member's roles; undefined for who is none. @throws ChannelError where they cannot be found out now */
  roles(guildId: string, userId: string, signal: AbortSignal): Promise<readonly string[] | undefined>;
}

const rolesMs = 600_000;

export function createPeople(
  context: Pick<ChannelContext<DiscordConfig>, "cache" | "logger">,
  api: DiscordApi,
): People {
  const { cache, logger } = context;
  let identity: Identity | undefined;

  const names = createNames({
    cache,
    logger,
    // Somebody's name is the same for every bot.
    prefix: "user",
    async ask(userId, signal) {
      const call = { what: "looking a person up", method: "GET", path: `/users/${userId}`, signal } as const;
      const user = await api.call(call);
      return isPayload(user) ? nameOf(user) : undefined;
    },
  });

  return {
    async self(signal) {
      identity ??= await askWhoItIs(api, signal);
      return identity;
    },

    known: () => identity,

    name: async (userId, signal) => (isSnowflake(userId) ? names(userId, signal) : undefined),

    async ownRole(guildId, signal) {
      const key = `own-role/${guildId}`;
      const cached = await cache.get(key);
      if (typeof cached === "string") return cached === "" ? undefined : cached;
      const id = await askOwnRole(api, guildId, identity?.id, signal);
      await cache.set(key, id ?? "", limits.dayMs);
      return id;
    },

    async roles(guildId, userId, signal) {
      const key = `roles/${guildId}/${userId}`;
      const cached = await cache.get(key);
      if (Array.isArray(cached)) return cached.map(String);
      const path = `/guilds/${guildId}/members/${userId}` as const;
      const asked = api.call({ what: "looking a member up", method: "GET", path, signal });
      const member = await unlessRefused(asked, undefined);
      if (!isPayload(member)) return undefined;
      const roles = rolesOf(member);
      await cache.set(key, [...roles], rolesMs);
      return roles;
    },
  };
}

async function askWhoItIs(api: DiscordApi, signal: AbortSignal): Promise<Identity> {
  const user = await api.call({ what: "asking who the bot is", method: "GET", path: "/users/@me", signal });
  const id = isPayload(user) ? textAt(user, "id") : undefined;
  if (!isPayload(user) || id === undefined)
    throw new ChannelError("transient", "Discord does not say who the bot is", { scope: "account" });
  const name = nameOf(user);
  return { id, ...(name === undefined ? {} : { name }) };
}

async function askOwnRole(
  api: DiscordApi,
  guildId: string,
  botId: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = `/guilds/${guildId}/roles` as const;
  // Roles that may not be read are those of nobody here.
  const roles = await unlessRefused(api.call({ what: "reading roles", method: "GET", path, signal }), []);
  const own = (Array.isArray(roles) ? roles.filter(isPayload) : []).find(
    (role) => textAt(objectAt(role, "tags"), "bot_id") === botId,
  );
  return own && textAt(own, "id");
}

/** As people see it; undefined where the payload has none. */
export function nameOf(user: Payload): string | undefined {
  return textAt(user, "global_name") ?? textAt(user, "username");
}

/** The ids of a member's roles. */
export function rolesOf(member: Payload): readonly string[] {
  const { roles } = member;
  return Array.isArray(roles) ? roles.filter((role): role is string => typeof role === "string") : [];
}
