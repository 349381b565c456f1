import {
  type ChannelContext,
  ChannelError,
  createNameResolver,
  type Identity,
  type NameResolver,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import type { SlackApi } from "./api.ts";
import type { SlackConfig } from "./config.ts";

/** The bot's own identity. */
export interface Self extends Identity {
  /** Id of the bot as the author of messages. Differs from its user id. */
  readonly botId: string | undefined;
  /** The id of the workspace, or of the organization for an org-wide token. */
  readonly teamId: string;
}

/** Returns true if the bot wrote a message. Slack always sends a bot id, and usually a user id too. */
export function isOwnMessage(message: Payload, self: Self | undefined): boolean {
  const bot = textAt(message, "bot_id");
  const user = textAt(message, "user");
  return (user !== undefined && user === self?.id) || (bot !== undefined && bot === self?.botId);
}

/** Prefix for stored keys. Ids are unique only within a workspace. */
export function getStateKey({ teamId, id }: Self): string {
  return `${teamId}/${id}`;
}

/** Looks up users and the bot's own identity. */
export interface People {
  /** The bot, or `undefined` before the first `ask`. */
  known(): Self | undefined;
  /**
   * Requests the bot's identity from Slack, which also verifies the token. Not cached.
   *
   * @throws ChannelError
   */
  ask(signal: AbortSignal): Promise<Self>;
  /** Returns a user's name. Never throws. */
  readonly name: NameResolver;
}

export function createPeople(
  context: Pick<ChannelContext<SlackConfig>, "cache" | "logger">,
  api: SlackApi,
): People {
  let self: Self | undefined;
  const nameOf = createNameResolver({
    cache: context.cache,
    prefix: "slack/name",
    async request(user, signal) {
      const answer = await api.call(
        "users.info",
        { user },
        { what: "looking up a user", write: false, signal },
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
      const answer = await api.call(
        "auth.test",
        {},
        { what: "fetching the bot's identity", write: false, signal },
      );
      const id = textAt(answer, "user_id");
      const teamId = textAt(answer, "team_id") ?? textAt(answer, "enterprise_id");
      if (id === undefined || teamId === undefined)
        throw new ChannelError("permission", "Slack: the token does not belong to a bot", {
          scope: "account",
        });
      const name = textAt(answer, "user");
      self = { id, teamId, botId: textAt(answer, "bot_id"), name };
      return self;
    },
    name: (userId, signal) => (/^[UW]/.test(userId) ? nameOf(userId, signal) : Promise.resolve(undefined)),
  };
}
