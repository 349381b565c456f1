import { decide, indexBindings, type PlacedBinding } from "./decide.ts";
import { PEER_KINDS } from "./peer.ts";
import type { BindingMatch, RouteInput } from "./types.ts";

/** A binding that never decides, and the bindings that take its messages, in their order. */
export interface ShadowedBinding {
  readonly index: number;
  readonly by: readonly number[];
}

/**
 * Finds bindings that never decide. For each case in which one could, a message that has exactly what it asks for and
 * nothing besides is routed: if that goes elsewhere, so does every message of the case, since whatever binding takes
 * it asks for no more.
 */
export function shadowedBindings(
  bindings: readonly PlacedBinding[],
  agents: ReadonlySet<string>,
): ShadowedBinding[] {
  const byCondition = indexBindings(bindings);
  return bindings.flatMap(({ index, binding }) => {
    const winners = barestMessages(binding.match).map(
      (message) => decide(byCondition, message, agents)?.index ?? index,
    );
    if (winners.includes(index)) return [];
    return [{ index, by: [...new Set(winners)].sort((a, b) => a - b) }];
  });
}

/** A character that no id or account holds, where a binding leaves a value open: only another open value takes it. */
const ANYTHING = "\uffff";

/** One message for each case: each role, and each kind of conversation where the binding names none. */
function barestMessages(match: BindingMatch): RouteInput[] {
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
