import type { MessageEvent } from "@signalbox/channel";
import type { InterruptedRun } from "@signalbox/store";
import type { Order } from "../commands/read.ts";
import type { Waiting } from "./lane.ts";
import type { GatewayBodies, StoredInbound } from "./stored.ts";

/** A message on its way to a run. */
export interface MessageTicket extends Waiting {
  readonly kind: "message";
  readonly agentId: string;
  readonly stored: StoredInbound;
  /** What it orders beyond its plain text. */
  readonly order?: Order;
  /** Accepted by an earlier process: its run may have been what ended that process. */
  readonly recovered: boolean;
}

/** A run that an earlier process began and that is to go on. */
export interface ResumeTicket extends Waiting {
  readonly kind: "resume";
  readonly agentId: string;
  readonly interrupted: InterruptedRun<GatewayBodies>;
}

/** What waits in a lane. */
export type Ticket = MessageTicket | ResumeTicket;

export function messagesIn(tickets: readonly Ticket[]): MessageTicket[] {
  return tickets.filter((ticket) => ticket.kind === "message");
}

/** What a message says to the agent, without the directives in front of it. */
export function spokenText({ order, stored }: MessageTicket): string {
  return order?.kind === "turn" ? order.text : stored.event.text;
}

/** Whether one reply reaches the senders of both: linked people and a shared session write from several places. */
export function samePlace(a: Ticket, b: Ticket): boolean {
  const one = eventOf(a);
  const other = eventOf(b);
  return (
    one?.channel === other?.channel && one?.account === other?.account && one?.address === other?.address
  );
}

function eventOf(ticket: Ticket): MessageEvent | undefined {
  return ticket.kind === "message" ? ticket.stored.event : ticket.interrupted.inbox.at(-1)?.payload.event;
}
