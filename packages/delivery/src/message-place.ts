import type { Channel, MessageDestination, Reference } from "@signalbox/channel";
import type { AccountLookup, DeliveryAccount } from "./account.ts";
import type { Destination } from "./outbox.ts";

/** The conversation that a run answers. */
export interface CurrentConversation extends Destination {
  readonly conversation: { readonly kind: string };
  readonly sender: { readonly id: string };
  /** The messages that the one answered refers to. */
  readonly references?: readonly Pick<Reference, "kind" | "messageId">[] | undefined;
}

/** Whether a destination is the conversation that is answered, however it is written. */
export function isCurrentConversation(
  { target, channel }: MessageDestination,
  here: CurrentConversation,
): boolean {
  const isItsChannel = [undefined, here.channel, `${here.channel}/${here.account}`].includes(channel);
  if (!isItsChannel || target === undefined) return isItsChannel;
  return target === here.address || (here.conversation.kind === "direct" && target === here.sender.id);
}

/** A conversation that an action takes effect in. */
export interface MessagePlace {
  readonly to: Destination;
  readonly isCurrent: boolean;
  readonly definition: DeliveryAccount["definition"];
  /** Absent while the account does not run. */
  readonly running: Channel | undefined;
}

export interface MessagePlaceOptions {
  /** An account that runs. */
  readonly account: AccountLookup;
  /** The channel of a configured account, whether the account runs or not. */
  readonly definition: (channel: string, account: string) => DeliveryAccount["definition"] | undefined;
  /** Every account that is configured. */
  readonly accounts: () => readonly Pick<Destination, "channel" | "account">[];
}

export const NOT_RUNNING = "This channel's account is not running right now. Try again later.";

/** Finds where an action goes, or says to the model why it cannot go there. */
export async function findPlace(
  options: MessagePlaceOptions,
  destination: MessageDestination,
  here: CurrentConversation,
  signal: AbortSignal,
): Promise<MessagePlace | string> {
  const isCurrent = isCurrentConversation(destination, here);
  const at = isCurrent ? here : accountOf(options, destination, here);
  if (typeof at === "string") return at;
  const { channel, account } = at;
  const definition = options.definition(channel, account);
  if (definition === undefined) return `The account ${account} of ${channel} is not configured any more.`;
  const running = options.account(channel, account)?.running;
  if (isCurrent) return { to: { channel, account, address: here.address }, isCurrent, definition, running };
  const { readsSession, awaitsSingleAnswer } = definition.capabilities;
  if (readsSession === true || awaitsSingleAnswer === true)
    return `Nobody can be written to by ${channel}: whoever uses it reads the conversation that they are in.`;
  const address = await addressOf(destination.target, definition, running, signal);
  if (address === undefined)
    return `${channel} cannot be written to that way: \`target\` is an address such as ${channel}:…, or a person's id.`;
  return address === NOT_RUNNING
    ? NOT_RUNNING
    : { to: { channel, account, address }, isCurrent, definition, running };
}

/** The account that reaches a destination, or why there is none. */
function accountOf(
  { accounts }: Pick<MessagePlaceOptions, "accounts">,
  { target, channel }: MessageDestination,
  here: Destination,
): Pick<Destination, "channel" | "account"> | string {
  const all = accounts();
  const inTarget = all.find((each) => target?.startsWith(`${each.channel}:`))?.channel;
  const [name, account] = (channel ?? inTarget ?? here.channel).split("/");
  const ofChannel = all.filter((each) => each.channel === name);
  if (account !== undefined) {
    const named = ofChannel.find((each) => each.account === account);
    return named ?? `There is no account ${account} of ${name} here.`;
  }
  if (name === here.channel) return here;
  const [only, ...others] = ofChannel;
  if (only === undefined) return `There is no channel ${name} here.`;
  if (others.length === 0) return only;
  return `Say by which account, as \`channel\`: ${ofChannel.map((each) => `${name}/${each.account}`).join(", ")}.`;
}

/** What the channel wrote itself is an address; anything else may be a person's id. */
async function addressOf(
  target: string | undefined,
  { codec }: DeliveryAccount["definition"],
  running: Channel | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (target === undefined) return undefined;
  try {
    return codec.encode(codec.decode(target));
  } catch {
    if (running === undefined) return NOT_RUNNING;
    return running.openDirect && codec.encode(await running.openDirect(target, signal));
  }
}
