import type { Channel, ChannelDefinition } from "@signalbox/channel";

/** One account of a channel that runs. */
export interface DeliveryAccount {
  readonly channel: string;
  readonly account: string;
  readonly definition: Pick<ChannelDefinition, "capabilities" | "codec">;
  readonly running: Channel;
}

/** Gives the account while it runs. */
export type AccountLookup = (channel: string, account: string) => DeliveryAccount | undefined;
