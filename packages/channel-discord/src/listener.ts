import type { ChannelContext } from "@signalbox/channel";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";
import { createSession, type Session } from "./connection/session.ts";
import { createConnection, type GatewayConnection } from "./connection/socket.ts";
import type { Conversations } from "./conversations.ts";
import { createIntake, type Intake } from "./inbound/intake.ts";
import { createReceiver, type Receiver } from "./inbound/receive.ts";
import type { Interactions } from "./outbound/interactions.ts";
import type { People } from "./people.ts";

/** Components that need the bot's identity. */
export interface Listener {
  readonly receiver: Receiver;
  readonly session: Session;
  readonly connection: GatewayConnection;
  /** The intake of the current connection. */
  intake: Intake | undefined;
}

interface ListeningOptions {
  readonly context: ChannelContext<DiscordConfig>;
  readonly api: DiscordApi;
  readonly people: People;
  readonly places: Conversations;
  readonly interactions: Interactions;
  readonly botId: string;
}

export function createListener(options: ListeningOptions): Listener {
  const { context, api, botId } = options;
  const receiver = createReceiver(options);
  const session = createSession(context, botId);
  const unreadable = new Map<string, number>();
  const connection = createConnection({
    context,
    api,
    session,
    listen() {
      const intake = createIntake({
        receiver,
        session,
        logger: context.logger,
        unreadable,
        refused: () => connection.lose(),
      });
      listening.intake = intake;
      return (event) => intake.take(event);
    },
    sessionBegins: () => receiver.backfill.expectGaps(),
    missed: (lostAt) =>
      receiver.backfill.catchUp({
        signal: context.signal,
        since: lostAt,
      }),
  });
  const listening: Listener = { receiver, session, connection, intake: undefined };
  return listening;
}
