import type { Channel, ChannelDefinition } from "@signalbox/channel";

/** A running account of a channel. */
export interface DeliveryAccount {
  readonly channel: string;
  readonly account: string;
  readonly definition: Pick<ChannelDefinition, "capabilities" | "codec">;
  readonly running: Channel;
}

/** Returns an account if it is running. */
export type AccountLookup = (channel: string, account: string) => DeliveryAccount | undefined;
