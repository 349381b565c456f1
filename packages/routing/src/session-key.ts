/**
 * The parts of a session key. {@link formatSessionKey} joins them, with every id escaped by {@link escapeId}:
 *
 * | parts | key |
 * | --- | --- |
 * | main | `agent:{agent}:main` |
 * | direct | `agent:{agent}:direct:{peer}` |
 * | direct, channel | `agent:{agent}:{channel}:direct:{peer}` |
 * | direct, channel, account | `agent:{agent}:{channel}:{account}:direct:{peer}` |
 * | group | `agent:{agent}:{channel}:{account}:group:{peer}` |
 * | channel | `agent:{agent}:{channel}:{account}:channel:{peer}` |
 * | sub-agent | `agent:{agent}:subagent:{id}` |
 *
 * Messages are never routed to a sub-agent; its parent chooses its key. A thread adds `:thread:{thread}` to any key
 * except the first and the last. The prefix `%~` marks a peer whose own id equals the name of a linked person, so a
 * sender cannot impersonate that person by choosing an id.
 */
export type SessionKeyParts =
  | { readonly kind: "main"; readonly agentId: string }
  | { readonly kind: "subagent"; readonly agentId: string; readonly id: string }
  | {
      readonly kind: "direct";
      readonly agentId: string;
      readonly channel?: string;
      /** Only set together with `channel`. */
      readonly account?: string;
      readonly peerId: string;
      /**
       * True if the peer's own id equals the name of a linked person, but the peer is not linked. Only set without
       * `channel`.
       */
      readonly namesake?: true;
      readonly threadId?: string;
    }
  | {
      readonly kind: "group" | "channel";
      readonly agentId: string;
      readonly channel: string;
      readonly account: string;
      readonly peerId: string;
      readonly threadId?: string;
    };

const NAMESAKE = "%~";

/** Formats a session key. Different components always produce different keys. */
export function formatSessionKey(parts: SessionKeyParts): string {
  const agent = `agent:${escapeId(parts.agentId)}`;
  if (parts.kind === "main") return `${agent}:main`;
  if (parts.kind === "subagent") return `${agent}:subagent:${escapeId(parts.id)}`;
  let key = agent;
  if (parts.channel !== undefined) key += `:${escapeId(parts.channel)}`;
  if (parts.channel !== undefined && parts.account !== undefined) key += `:${escapeId(parts.account)}`;
  const mark = parts.kind === "direct" && parts.namesake && parts.channel === undefined ? NAMESAKE : "";
  key += `:${parts.kind}:${mark}${escapeId(parts.peerId)}`;
  return parts.threadId === undefined ? key : `${key}:thread:${escapeId(parts.threadId)}`;
}

/** Parses a session key. Returns `undefined` unless formatting the result produces exactly `key` again. */
export function parseSessionKey(key: string): SessionKeyParts | undefined {
  const parts = parseSegments(key.split(":"));
  return parts !== undefined && formatSessionKey(parts) === key ? parts : undefined;
}

function parseSegments(segments: string[]): SessionKeyParts | undefined {
  const [prefix, agent] = segments;
  let rest = segments.slice(2);
  if (prefix !== "agent" || agent === undefined) return undefined;
  const agentId = unescapeId(agent);
  if (rest.length === 1) return rest[0] === "main" ? { kind: "main", agentId } : undefined;

  let thread: { threadId: string } | undefined;
  const last = rest.at(-1);
  if (rest.length >= 4 && rest.at(-2) === "thread" && last !== undefined) {
    thread = { threadId: unescapeId(last) };
    rest = rest.slice(0, -2);
  }
  const kind = rest.at(-2);
  const peer = rest.at(-1);
  if (peer === undefined || rest.length > 4) return undefined;
  const [channel, account] = rest.slice(0, -2).map(unescapeId);
  if (kind === "subagent" && rest.length === 2 && thread === undefined)
    return { kind, agentId, id: unescapeId(peer) };
  if (kind === "direct") {
    const namesake = peer.startsWith(NAMESAKE);
    return {
      kind,
      agentId,
      channel,
      account,
      peerId: unescapeId(namesake ? peer.slice(NAMESAKE.length) : peer),
      namesake: namesake || undefined,
      ...thread,
    };
  }
  if ((kind === "group" || kind === "channel") && channel !== undefined && account !== undefined) {
    return { kind, agentId, channel, account, peerId: unescapeId(peer), ...thread };
  }
  return undefined;
}

/**
 * Escapes an id for a session key. `:`, `%`, and ASCII control characters and white space become `%` and two
 * hexadecimal digits. A lone surrogate, which databases cannot store, becomes `%+` and four. Other characters are
 * unchanged, so usual ids stay readable.
 */
export function escapeId(id: string): string {
  const safe = UNSAFE.test(id) ? id.replace(EVERY_UNSAFE, escapeCharacter) : id;
  return safe.isWellFormed() ? safe : safe.replace(/\p{Cs}/gu, escapeSurrogate);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must be escaped
const UNSAFE = /[%:\u0000-\u0020\u007f]/;
const EVERY_UNSAFE = new RegExp(UNSAFE, "g");

function escapeCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
}

function escapeSurrogate(surrogate: string): string {
  return `%+${surrogate.charCodeAt(0).toString(16).toUpperCase()}`;
}

function unescapeId(text: string): string {
  return text.replace(/%(?:([0-9A-F]{2})|\+([0-9A-F]{4}))/g, (_, two?: string, four?: string) =>
    String.fromCharCode(parseInt(two ?? four ?? "", 16)),
  );
}
