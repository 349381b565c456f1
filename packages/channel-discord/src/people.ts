import {
  type ChannelContext,
  ChannelError,
  catchRefusal,
  createNameResolver,
  createOwnIdentity,
  type Identity,
  isPayload,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { isSnowflake } from "./address.ts";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";
import { limits } from "./limits.ts";

/** Looks up users and the bot's own identity. */
export interface People {
  /** Returns the bot's identity. The first call requests it, which also verifies the token. */
  self(signal: AbortSignal): Promise<Identity>;
  known(): Identity | undefined;
  /** Returns a user's name, or `undefined` if it is not available. Never throws. */
  name(userId: string, signal: AbortSignal): Promise<{ readonly name: string } | undefined>;
  /**
   * Returns the role that Discord created for the bot in a server. People sometimes mention it instead of the
   * bot.
   */
  ownRole(guildId: string, signal: AbortSignal): Promise<string | undefined>;
  /**
   * Returns a member's roles, or `undefined` if the user is not a member.
   *
   * @throws ChannelError if they cannot be looked up now
   */
  roles(guildId: string, userId: string, signal: AbortSignal): Promise<readonly string[] | undefined>;
}

const ROLES_TTL_MS = 600_000;

export function createPeople(
  context: Pick<ChannelContext<DiscordConfig>, "cache" | "clock" | "logger">,
  api: DiscordApi,
): People {
  const { cache, clock, logger } = context;
  const self = createOwnIdentity({
    platform: "Discord",
    clock,
    timeoutMs: limits.requestTimeoutMs,
    request: (signal) => fetchSelf(api, signal),
  });

  const names = createNameResolver({
    cache,
    logger,
    // A user's name is the same for every bot.
    prefix: "user",
    async request(userId, signal) {
      const call = { what: "looking up a user", method: "GET", path: `/users/${userId}`, signal } as const;
      const user = await api.call(call);
      return isPayload(user) ? getDisplayName(user) : undefined;
    },
  });

  return {
    self: self.get,
    known: self.known,

    name: async (userId, signal) => (isSnowflake(userId) ? names(userId, signal) : undefined),

    async ownRole(guildId, signal) {
      const key = `own-role/${guildId}`;
      const cached = await cache.get(key);
      if (typeof cached === "string") return cached === "" ? undefined : cached;
      const id = await fetchOwnRole(api, guildId, self.known()?.id, signal);
      await cache.set(key, id ?? "", limits.dayMs);
      return id;
    },

    async roles(guildId, userId, signal) {
      const key = `roles/${guildId}/${userId}`;
      const cached = await cache.get(key);
      if (Array.isArray(cached)) return cached.map(String);
      const path = `/guilds/${guildId}/members/${userId}` as const;
      const asked = api.call({ what: "looking up a member", method: "GET", path, signal });
      const member = await catchRefusal(asked, undefined);
      if (!isPayload(member)) return undefined;
      const roles = readRoles(member);
      await cache.set(key, [...roles], ROLES_TTL_MS);
      return roles;
    },
  };
}

async function fetchSelf(api: DiscordApi, signal: AbortSignal): Promise<Identity> {
  const user = await api.call({
    what: "fetching the bot's identity",
    method: "GET",
    path: "/users/@me",
    signal,
  });
  const id = isPayload(user) ? textAt(user, "id") : undefined;
  if (!isPayload(user) || id === undefined)
    throw new ChannelError("transient", "Discord: the response contains no bot identity", {
      scope: "account",
    });
  const name = getDisplayName(user);
  return { id, name };
}

async function fetchOwnRole(
  api: DiscordApi,
  guildId: string,
  botId: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const path = `/guilds/${guildId}/roles` as const;
  // If the roles cannot be read, no role is treated as the bot's.
  const roles = await catchRefusal(api.call({ what: "reading roles", method: "GET", path, signal }), []);
  const own = (Array.isArray(roles) ? roles.filter(isPayload) : []).find(
    (role) => textAt(objectAt(role, "tags"), "bot_id") === botId,
  );
  return own && textAt(own, "id");
}

/** Returns the display name of a user. */
export function getDisplayName(user: Payload): string | undefined {
  return textAt(user, "global_name") ?? textAt(user, "username");
}

/** Returns the role ids of a member. */
export function readRoles(member: Payload): readonly string[] {
  const { roles } = member;
  return Array.isArray(roles) ? roles.filter((role): role is string => typeof role === "string") : [];
}
