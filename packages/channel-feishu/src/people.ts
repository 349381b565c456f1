import {
  type ChannelContext,
  ChannelError,
  createNameResolver,
  createOwnIdentity,
  encodePathSegment,
  type Identity,
  isPayload,
  textAt,
} from "@signalbox/channel";
import { idType } from "./address.ts";
import type { FeishuApi } from "./api.ts";
import type { FeishuConfig } from "./config.ts";
import { limits } from "./limits.ts";

const dayMs = 24 * 3_600_000;

/** Looks up and caches people and the bot. */
export interface People {
  /** Returns the bot if it has already been looked up. */
  known(): Identity | undefined;
  /**
   * Looks up the bot.
   *
   * @throws ChannelError
   */
  self(signal: AbortSignal): Promise<Identity>;
  /** Returns a person's name. Never throws. */
  name(userId: string, signal: AbortSignal): Promise<{ readonly name: string } | undefined>;
}

type Needs = Pick<ChannelContext<FeishuConfig>, "config" | "cache" | "clock" | "logger">;

export function createPeople(context: Needs, api: FeishuApi): People {
  const { config, cache, clock, logger } = context;
  const selfKey = `feishu/${config.appId}/self`;

  async function requestSelf(signal: AbortSignal): Promise<Identity> {
    const cached = await cache.get(selfKey);
    const answer: unknown = isPayload(cached)
      ? { bot: cached }
      : await api.call({ what: "fetching the bot's identity", write: false, signal }, (client) =>
          client.get("/open-apis/bot/v3/info"),
        );
    const bot = isPayload(answer) && isPayload(answer["bot"]) ? answer["bot"] : {};
    const id = textAt(bot, "open_id");
    if (id === undefined)
      throw new ChannelError("permission", "Feishu: the app has no bot", { scope: "account" });
    const name = textAt(bot, "app_name");
    if (!isPayload(cached)) await cache.set(selfKey, { open_id: id, app_name: name }, dayMs);
    return { id, name };
  }

  const self = createOwnIdentity({
    platform: "Feishu",
    clock,
    timeoutMs: limits.requestTimeoutMs,
    request: requestSelf,
  });

  const nameOf = createNameResolver({
    cache,
    prefix: `feishu/${config.appId}/name`,
    async request(userId, signal) {
      const answer = await api.call({ what: "asking for a name", write: false, signal }, (client) => {
        const type = idType(userId) === "union_id" ? "union_id" : "open_id";
        return client.user.get({
          path: { user_id: encodePathSegment(userId) },
          params: { user_id_type: type },
        });
      });
      return answer.data?.user?.name;
    },
    logger,
  });

  return {
    known: self.known,
    self: self.get,
    name(userId, signal) {
      if (idType(userId) === "chat_id" && !userId.startsWith("u")) return Promise.resolve(undefined);
      return nameOf(userId, signal);
    },
  };
}
