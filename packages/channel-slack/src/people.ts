import {
  type ChannelContext,
  ChannelError,
  createNames,
  type Identity,
  type NameOf,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import type { SlackApi } from "./api.ts";
import type { SlackConfig } from "./config.ts";

/** The bot, as Slack names it. */
export interface Self extends Identity {
  /** As the author of messages, beside its id as a user. */
  readonly botId: string | undefined;
  /** The workspace that the token is of, or the organisation. */
  readonly teamId: string;
}

/** Whether the bot wrote a message: Slack names it by an id of its own, and mostly by one as a user too. */
export function isOwn(message: Payload, self: Self | undefined): boolean {
  const bot = textAt(message, "bot_id");
  const user = textAt(message, "user");
  return (user !== undefined && user === self?.id) || (bot !== undefined && bot === self?.botId);
}

/** Under which the bot remembers things for good: what it knows of one workspace says nothing about another. */
export function ownerOf({ teamId, id }: Self): string {
  return `${teamId}/${id}`;
}

/** Who people are, and who the bot is. */
export interface People {
  /** The bot, once it was asked for. */
  known(): Self | undefined;
  /** Asks Slack, each time: that it answers shows that the token is good. @throws ChannelError */
  ask(signal: AbortSignal): Promise<Self>;
  /** A person's name. Never throws. */
  readonly name: NameOf;
}

export function createPeople(
  context: Pick<ChannelContext<SlackConfig>, "cache" | "logger">,
  api: SlackApi,
): People {
  let self: Self | undefined;
  const nameOf = createNames({
    cache: context.cache,
    prefix: "slack/name",
    async ask(user, signal) {
      const answer = await api.call(
        "users.info",
        { user },
        { what: "asking for a name", write: false, signal },
      );
      const { profile, ...person } = objectAt(answer, "user");
      const shown = objectAt({ profile }, "profile");
      return textAt(shown, "display_name") ?? textAt(shown, "real_name") ?? textAt(person, "name");
    },
    logger: context.logger,
  });

  return {
    known: () => self,
    async ask(signal) {
      const answer = await api.call("auth.test", {}, { what: "asking who the bot is", write: false, signal });
      const id = textAt(answer, "user_id");
      const teamId = textAt(answer, "team_id") ?? textAt(answer, "enterprise_id");
      if (id === undefined || teamId === undefined)
        throw new ChannelError("permission", "Slack: the token is not a bot's", { scope: "account" });
      const name = textAt(answer, "user");
      self = { id, teamId, botId: textAt(answer, "bot_id"), ...(name === undefined ? {} : { name }) };
      return self;
    },
    name: (userId, signal) => (/^[UW]/.test(userId) ? nameOf(userId, signal) : Promise.resolve(undefined)),
  };
}
