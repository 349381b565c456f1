import type { PairingPeer } from "@signalbox/store";
import type { ServiceStore } from "../messages/service-store.ts";

/** Number of the latest messages whose senders are read. */
const MAX_MESSAGES = 500;

/** Display names by channel and id. */
export interface PersonNames {
  get(channel: string, id: string): string | undefined;
}

/** Reads the display names of paired people. */
export async function readPairedNames({ pairing }: Pick<ServiceStore, "pairing">): Promise<PersonNames> {
  return createNames(await pairing.peers());
}

/** Reads the display names of paired people and of the senders of the latest messages. */
export async function readPersonNames({
  inbox,
  pairing,
}: Pick<ServiceStore, "inbox" | "pairing">): Promise<PersonNames> {
  const [rows, peers] = await Promise.all([inbox.list({ limit: MAX_MESSAGES }), pairing.peers()]);
  const names = createNames(peers);
  // The latest message comes first. A name in a later message replaces one in an earlier message.
  for (const { channel, senderId, payload } of rows.toReversed()) {
    const { name } = payload.event.sender;
    if (name !== undefined && name !== "") names.set(channel, senderId, name);
  }
  return names;
}

function createNames(peers: readonly PairingPeer[]) {
  const names = new Map<string, string>();
  const set = (channel: string, id: string, name: string) => void names.set(getKey(channel, id), name);
  for (const { channel, peerId, label } of peers) if (label !== undefined) set(channel, peerId, label);
  return { set, get: (channel: string, id: string) => names.get(getKey(channel, id)) };
}

function getKey(channel: string, id: string): string {
  return `${channel}:${id}`;
}
