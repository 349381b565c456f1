import type { ChannelContext } from "@signalbox/channel";
import type { DiscordApi } from "./api.ts";
import type { DiscordConfig } from "./config.ts";
import { createSession, type Session } from "./connection/session.ts";
import { createConnection, type GatewayConnection } from "./connection/socket.ts";
import { createIntake, type Intake } from "./inbound/intake.ts";
import { createReceiver, type Receiver } from "./inbound/receive.ts";
import type { Interactions } from "./outbound/interactions.ts";
import type { People } from "./people.ts";
import type { Places } from "./places.ts";

/** What exists once it is known who the bot is. */
export interface Listening {
  readonly receiver: Receiver;
  readonly session: Session;
  readonly connection: GatewayConnection;
  /** Of the connection that stands. */
  intake: Intake | undefined;
}

interface ListeningOptions {
  readonly context: ChannelContext<DiscordConfig>;
  readonly api: DiscordApi;
  readonly people: People;
  readonly places: Places;
  readonly interactions: Interactions;
  readonly botId: string;
}

export function createListening(options: ListeningOptions): Listening {
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
    missed: (lostAt) =>
      receiver.backfill.catchUp({
        signal: context.signal,
        ...(lostAt === undefined ? {} : { since: lostAt }),
      }),
  });
  const listening: Listening = { receiver, session, connection, intake: undefined };
  return listening;
}
