import { createSnowflakes } from "./snowflake.ts";

/** A person or a bot. */
export interface DiscordUser {
  readonly id: string;
  readonly username: string;
  readonly global_name?: string;
  readonly bot?: boolean;
}

/** Discord's numbers of channel types. */
export const channelType = {
  text: 0,
  direct: 1,
  groupDirect: 3,
  publicThread: 11,
  privateThread: 12,
  forum: 15,
} as const;

export interface DiscordChannel {
  readonly id: string;
  readonly type: number;
  readonly guildId?: string;
  /** The parent channel of a thread, or the forum of a post. */
  readonly parentId?: string;
  readonly name?: string;
  /** Only in direct conversations. */
  readonly recipient?: DiscordUser;
  /** True if the bot cannot see it. */
  readonly isHidden?: boolean;
  /** True if nobody may send voice messages there. */
  readonly forbidsVoice?: boolean;
}

export interface DiscordGuild {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly DiscordRole[];
  /** Roles of members, by the member's id. */
  readonly members: Map<string, readonly string[]>;
}

export interface DiscordRole {
  readonly id: string;
  readonly name: string;
  /** Set for the role that belongs to this bot. */
  readonly botId?: string;
}

/** Guilds, channels and people. */
export class World {
  readonly bot: DiscordUser;
  readonly users: Map<string, DiscordUser> = new Map();
  readonly channels: Map<string, DiscordChannel> = new Map();
  readonly guilds: Map<string, DiscordGuild> = new Map();
  readonly now: () => number;
  readonly nextId: () => string;

  constructor(bot: DiscordUser, now: () => number) {
    this.bot = bot;
    this.now = now;
    this.nextId = createSnowflakes(now);
    this.users.set(bot.id, bot);
  }

  /** Returns the direct conversation with a person. Creates it if necessary. */
  direct(userId: string): DiscordChannel {
    for (const channel of this.channels.values()) if (channel.recipient?.id === userId) return channel;
    const recipient = this.user(userId);
    const channel = { id: this.nextId(), type: channelType.direct, recipient };
    this.channels.set(channel.id, channel);
    return channel;
  }

  user(id: string): DiscordUser {
    return this.users.get(id) ?? { id, username: `user${id}` };
  }
}

export function userPayload(user: DiscordUser): Record<string, unknown> {
  return {
    id: user.id,
    username: user.username,
    discriminator: user.bot === true ? "0000" : "0",
    global_name: user.global_name ?? null,
    avatar: null,
    primary_guild: null,
    public_flags: 0,
    flags: 0,
    bot: user.bot === true ? true : undefined,
  };
}

export function channelPayload(channel: DiscordChannel): Record<string, unknown> {
  return {
    id: channel.id,
    type: channel.type,
    flags: 0,
    last_message_id: null,
    guild_id: channel.guildId,
    parent_id: channel.parentId,
    name: channel.name,
    recipients: channel.recipient === undefined ? undefined : [userPayload(channel.recipient)],
  };
}

/** Returns a guild in the format of `GUILD_CREATE`. */
export function guildPayload(guild: DiscordGuild, channels: Iterable<DiscordChannel>, now: number): unknown {
  const own = [...channels].filter(({ guildId }) => guildId === guild.id);
  const isThread = ({ type }: DiscordChannel): boolean =>
    type === channelType.publicThread || type === channelType.privateThread;
  return {
    id: guild.id,
    name: guild.name,
    joined_at: new Date(now - 86_400_000).toISOString(),
    unavailable: false,
    member_count: guild.members.size,
    roles: guild.roles.map(rolePayload),
    channels: own.filter((one) => !isThread(one)).map(channelPayload),
    threads: own.filter(isThread).map(channelPayload),
    members: [],
  };
}

export function rolePayload({ id, name, botId }: DiscordRole): unknown {
  const tags = botId === undefined ? {} : { tags: { bot_id: botId } };
  return { id, name, color: 0, permissions: "0", position: 1, managed: botId !== undefined, ...tags };
}
