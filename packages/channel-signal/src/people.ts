import {
  type ChannelContext,
  createNameResolver,
  isPayload,
  type NameResolver,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { isPersonId, type Self } from "./address.ts";
import type { SignalConfig } from "./config.ts";
import type { Call, SignalCli } from "./rpc.ts";

/** Looks up the contact of a person in signal-cli's own store. Sends no request to Signal. */
async function findContact(cli: SignalCli, id: string, call: Call): Promise<Payload> {
  const found = await cli.call("listContacts", { recipient: [id], allRecipients: true }, call);
  const contacts: readonly unknown[] = Array.isArray(found) ? found : [];
  const contact = contacts.find(
    (one) => isPayload(one) && (textAt(one, "uuid") === id || textAt(one, "number") === id),
  );
  return isPayload(contact) ? contact : {};
}

/** The bot's account, with its name. */
export interface Account extends Self {
  readonly name?: string | undefined;
}

/**
 * Requests the bot's service id and name.
 *
 * @throws ChannelError `auth` if signal-cli does not have the account
 */
export async function findSelf(cli: SignalCli, account: string, signal: AbortSignal): Promise<Account> {
  const call = { what: "looking up the account", write: false, signal };
  const contact = await findContact(cli, account, call);
  return { account, uuid: textAt(contact, "uuid"), name: getName(contact) };
}

export function createPeople(context: ChannelContext<SignalConfig>, cli: SignalCli): NameResolver {
  const { cache, logger, config } = context;
  return createNameResolver({
    cache,
    logger,
    prefix: `${config.account} name`,
    async request(userId, signal) {
      if (!isPersonId(userId)) return undefined;
      return getName(await findContact(cli, userId, { what: "looking up a person", write: false, signal }));
    },
  });
}

/** Source: `JsonContact`. The name in the account's contacts comes before the one that the person chose. */
function getName(contact: Payload): string | undefined {
  const profile = objectAt(contact, "profile");
  return (
    textAt(contact, "name") ?? getFullName(contact) ?? getFullName(profile) ?? textAt(contact, "username")
  );
}

function getFullName(of: Payload): string | undefined {
  const names = [textAt(of, "givenName"), textAt(of, "familyName")];
  return names.filter((name) => name !== undefined).join(" ") || undefined;
}
