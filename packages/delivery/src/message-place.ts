import type { Channel, MessageDestination, Reference } from "@signalbox/channel";
import type { AccountLookup, DeliveryAccount } from "./account.ts";
import type { Destination } from "./outbox.ts";

/** The conversation that a run answers. */
export interface CurrentConversation extends Destination {
  readonly conversation: { readonly kind: string };
  readonly sender: { readonly id: string };
  /** The messages to which the answered message refers. */
  readonly references?: readonly Pick<Reference, "kind" | "messageId">[];
}

/** Returns true if a destination is the current conversation, regardless of notation. */
export function isCurrentConversation(
  { target, channel }: MessageDestination,
  current: CurrentConversation,
): boolean {
  const isSameAccount = [undefined, current.channel, `${current.channel}/${current.account}`].includes(
    channel,
  );
  if (!isSameAccount || target === undefined) return isSameAccount;
  return (
    target === current.address || (current.conversation.kind === "direct" && target === current.sender.id)
  );
}

/** A conversation in which an action takes effect. */
export interface MessagePlace {
  readonly to: Destination;
  readonly isCurrent: boolean;
  readonly definition: DeliveryAccount["definition"];
  /** Absent while the account is not running. */
  readonly running: Channel | undefined;
}

export interface MessagePlaceOptions {
  /** Returns an account if it is running. */
  readonly account: AccountLookup;
  /** Returns the definition of a configured account, even if the account is not running. */
  readonly definition: (channel: string, account: string) => DeliveryAccount["definition"] | undefined;
  /** Returns every configured account. */
  readonly accounts: () => readonly Pick<Destination, "channel" | "account">[];
}

export const NOT_RUNNING = "This channel's account is not running right now. Try again later.";

/** Finds the conversation of an action, or returns a text that explains the failure to the model. */
export async function findPlace(
  options: MessagePlaceOptions,
  destination: MessageDestination,
  current: CurrentConversation,
  signal: AbortSignal,
): Promise<MessagePlace | string> {
  const isCurrent = isCurrentConversation(destination, current);
  const at = isCurrent ? current : findAccount(options, destination, current);
  if (typeof at === "string") return at;
  const { channel, account } = at;
  const definition = options.definition(channel, account);
  if (definition === undefined) return `The account ${account} of ${channel} is no longer configured.`;
  const running = options.account(channel, account)?.running;
  if (isCurrent)
    return { to: { channel, account, address: current.address }, isCurrent, definition, running };
  const { readsSession, awaitsSingleAnswer } = definition.capabilities;
  if (readsSession === true || awaitsSingleAnswer === true)
    return `${channel} cannot send to other conversations: its users read only the one they are in.`;
  const address = await findAddress(destination.target, definition, running, signal);
  if (address === undefined)
    return `${channel} needs a valid \`target\`: \`target\` is an address such as ${channel}:…, or a person's id.`;
  return address === NOT_RUNNING
    ? NOT_RUNNING
    : { to: { channel, account, address }, isCurrent, definition, running };
}

/** Returns the account that reaches a destination, or a text that explains the failure. */
function findAccount(
  { accounts }: MessagePlaceOptions,
  { target, channel }: MessageDestination,
  current: Destination,
): Pick<Destination, "channel" | "account"> | string {
  const all = accounts();
  const inTarget = all.find((each) => target?.startsWith(`${each.channel}:`))?.channel;
  const [name, account] = (channel ?? inTarget ?? current.channel).split("/");
  const ofChannel = all.filter((each) => each.channel === name);
  if (account !== undefined) {
    const named = ofChannel.find((each) => each.account === account);
    return named ?? `There is no account ${account} of ${name} here.`;
  }
  if (name === current.channel) return current;
  const [only, ...others] = ofChannel;
  if (only === undefined) return `There is no channel ${name} here.`;
  if (others.length === 0) return only;
  const names = ofChannel.map((each) => `${name}/${each.account}`).join(", ");
  return `Name the account in \`channel\`: ${names}.`;
}

/** A target that the channel's codec decodes is an address; anything else may be the id of a person. */
async function findAddress(
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
