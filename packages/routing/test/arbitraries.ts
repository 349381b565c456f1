// Few distinct values, so that bindings often match messages. Some ids look like our own syntax.
import fc from "fast-check";
import type {
  Binding,
  BindingMatch,
  DmScope,
  Peer,
  PeerKind,
  RouteInput,
  RoutingConfig,
} from "../src/index.ts";

const CHANNELS = ["discord", "slack"];
const ACCOUNTS = ["main", "bot-1", "bot-2", "b:1"];
const PATTERNS = ["*", "**", "bot-*", "*1", "b*-*1", "main", "bot-1", "b:1"];
const PEERS = ["1", "1:", "a:b", "%3A", "张三", "1/1:g", "alice"];
const GUILDS = ["g", "1:g"];
const ROLES = ["admin", "dev", "1:g"];
const TEAMS = ["t", "g"];

const oneOf = (values: readonly string[]) => fc.constantFrom(...values);
const kind = fc.constantFrom<PeerKind>("direct", "group", "channel");
const peer: fc.Arbitrary<Peer> = fc.record({ kind, id: oneOf(PEERS) });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const agents: readonly string[] = ["coder", "flash", "main"];

export const binding: fc.Arbitrary<Binding> = fc.record({
  agent: oneOf([...agents, "gone"]),
  match: fc.record(
    {
      channel: oneOf(CHANNELS),
      account: maybe(oneOf(PATTERNS)),
      peer: maybe(fc.record({ kind, id: oneOf([...PEERS, "*", "*", "*"]) })),
      guildId: maybe(oneOf(GUILDS)),
      roles: maybe(fc.array(oneOf(ROLES), { maxLength: 2 })),
      teamId: maybe(oneOf(TEAMS)),
    },
    { requiredKeys: ["channel"] },
  ),
});

export const identityLinks: fc.Arbitrary<Record<string, string[]>> = fc.dictionary(
  oneOf(["alice", "bob", "__proto__", "1"]),
  fc.array(
    fc.tuple(oneOf(CHANNELS), oneOf(PEERS)).map(([channel, id]) => `${channel}:${id}`),
    { maxLength: 3 },
  ),
);

/** A new value for one condition of a binding. */
export const matchEdit: fc.Arbitrary<Partial<BindingMatch>> = fc.oneof(
  fc.record({ account: maybe(oneOf(PATTERNS)) }),
  fc.record({ guildId: maybe(oneOf(GUILDS)) }),
  fc.record({ teamId: maybe(oneOf(TEAMS)) }),
  fc.record({ roles: maybe(fc.array(oneOf(ROLES), { maxLength: 2 })) }),
  fc.record({ peer: maybe(peer) }),
);

export const config: fc.Arbitrary<RoutingConfig> = fc.record({
  bindings: fc.array(binding, { maxLength: 24 }),
  agents: fc.constant(agents),
  defaultAgent: oneOf(agents),
  dmScope: fc.constantFrom<DmScope>("main", "per-peer", "per-channel-peer", "per-account-channel-peer"),
  identityLinks,
});

/** A valid message: direct chats have no guild and no roles, and only their threads have a direct chat as parent. */
export const input: fc.Arbitrary<RouteInput> = fc
  .record(
    {
      channel: oneOf([...CHANNELS, "web"]),
      account: oneOf([...ACCOUNTS, "other"]),
      peer,
      parentPeer: maybe(peer),
      guildId: maybe(oneOf(GUILDS)),
      roles: maybe(fc.array(oneOf(ROLES), { maxLength: 3 })),
      teamId: maybe(oneOf(TEAMS)),
      threadId: maybe(oneOf(["7", "1", "thread:7"])),
    },
    { requiredKeys: ["channel", "account", "peer"] },
  )
  .map((message) => {
    const { peer, parentPeer } = message;
    if (peer.kind === "direct") return { ...message, guildId: undefined, roles: undefined };
    return parentPeer?.kind === "direct"
      ? { ...message, parentPeer: { ...parentPeer, kind: peer.kind } }
      : message;
  });

/** Messages of one conversation, which mostly differ in a single field. */
export const alikeInput: fc.Arbitrary<RouteInput> = fc.record(
  {
    channel: fc.constant("slack"),
    account: oneOf(["main", "bot-1"]),
    peer: fc.record({ kind: fc.constantFrom<PeerKind>("group", "direct"), id: oneOf(["1", "alice"]) }),
    parentPeer: maybe(fc.record({ kind: fc.constant<PeerKind>("group"), id: oneOf(["1", "a:b"]) })),
    guildId: maybe(oneOf(GUILDS)),
    roles: maybe(fc.subarray(ROLES, { maxLength: 1 })),
    teamId: maybe(oneOf(TEAMS)),
    threadId: maybe(oneOf(["7", "thread:7"])),
  },
  { requiredKeys: ["channel", "account", "peer"] },
);
