import { decide, indexBindings, type PlacedBinding } from "./decide.ts";
import { PEER_KINDS } from "./peer.ts";
import type { BindingMatch, RouteInput } from "./types.ts";

/** A binding that never decides, and the bindings that get its messages, in their order. */
export interface ShadowedBinding {
  readonly index: number;
  readonly by: readonly number[];
}

/**
 * Finds bindings that never decide. It routes, for each role and kind of conversation, a message that meets exactly
 * the binding's conditions. If another binding gets that message, it also gets every other message of that case, since
 * it requires nothing else.
 */
export function findShadowedBindings(
  bindings: readonly PlacedBinding[],
  agents: ReadonlySet<string>,
): ShadowedBinding[] {
  const byCondition = indexBindings(bindings);
  return bindings.flatMap(({ index, binding }) => {
    const winners = createMinimalMessages(binding.match).map(
      (message) => decide(byCondition, message, agents)?.index ?? index,
    );
    if (winners.includes(index)) return [];
    return [{ index, by: [...new Set(winners)].sort((a, b) => a - b) }];
  });
}

/** Stands for an open value: a character that no id contains, so only another open value matches it. */
const ANYTHING = "\uffff";

/** Returns one message for each role, and for each kind of conversation if the binding does not name one. */
function createMinimalMessages(match: BindingMatch): RouteInput[] {
  const { channel, account = "*", peer, guildId, roles, teamId } = match;
  const inGuild = guildId !== undefined || roles !== undefined;
  const kinds = inGuild ? PEER_KINDS.filter((kind) => kind !== "direct") : PEER_KINDS;
  const peers = peer === undefined ? kinds.map((kind) => ({ kind, id: "*" })) : [peer];
  return peers.flatMap(({ kind, id }) =>
    (roles ?? [undefined]).map((role) => ({
      channel,
      account: account.replaceAll("*", ANYTHING),
      peer: { kind, id: id === "*" ? ANYTHING : id },
      guildId,
      roles: role === undefined ? undefined : [role],
      teamId,
    })),
  );
}
