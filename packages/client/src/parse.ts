import type { ClientFrame, ServerFrame } from "./wire.ts";

/** Result of reading a client's frame; `id` is that of the `send`, so that a refusal can name it. */
export type ParsedClientFrame =
  | { ok: true; frame: ClientFrame }
  | { ok: false; message: string; id?: string; conversation?: string };

type Fields = Record<string, unknown>;
type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const count: Check = (value) => typeof value === "number" && Number.isFinite(value);
const flag: Check = (value) => typeof value === "boolean";
const anything: Check = () => true;
/** A conversation or agent id: no control characters, since ids end up in logs and addresses. */
const name: Check = (value) => typeof value === "string" && /^[^\p{Cc}]{1,200}$/u.test(value);
const key: Check = (value) => typeof value === "string" && /^[\w-]{1,64}$/.test(value);
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const shape =
  (checks: Record<string, Check>): Check =>
  (value) =>
    wrongField(value, checks) === undefined;
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const oneOf =
  (...values: string[]): Check =>
  (value) =>
    typeof value === "string" && values.includes(value);

const texts: Check = (value) => isFields(value) && Object.values(value).every(text);
const outcome = oneOf("replied", "silent", "failed", "aborted");
const agent = shape({ id: text, name: text, model: text, demo: flag });
const inRun = { conversation: text, runId: text };

const CLIENT_FRAMES: Record<ClientFrame["type"], Record<string, Check>> = {
  subscribe: { conversation: name, agent: maybe(name) },
  send: { id: key, agent: name, conversation: name, text: (value) => text(value) && value !== "" },
  abort: { conversation: name },
  ping: {},
};

/** @internal Checks of what a gateway answers, shared by frames and HTTP bodies. */
export const shapes: Record<
  "me" | "agents" | "conversations" | "messages" | "status" | "trace" | "approvals" | "error",
  Check
> = {
  me: shape({ user: shape({ id: text, name: text }), agents: list(agent), demo: flag, version: text }),
  agents: list(agent),
  conversations: list(shape({ id: text, agent: text, title: text, updatedAt: count })),
  messages: shape({ messages: list(message) }),
  status: shape({
    version: text,
    demo: flag,
    startedAt: count,
    agents: list(agent),
    channels: list(shape({ channel: text, account: text, state: text, reason: maybe(text) })),
    inboxPending: count,
    outboxPending: count,
  }),
  trace: shape({ messageId: text, entries: list(shape({ at: count, stage: text, summary: text })) }),
  approvals: shape({
    approvals: list(
      shape({
        ...{ id: text, agent: text, sessionKey: text, tool: text, reason: text, action: text },
        ...{ binary: maybe(text), cwd: maybe(text), env: maybe(texts), expiresAt: count },
      }),
    ),
  }),
  error: shape({ error: shape({ code: text, message: text, remedy: maybe(text) }) }),
};

const SERVER_FRAMES: Record<ServerFrame["type"], Record<string, Check>> = {
  ready: {
    protocol: (value) => value === 1,
    user: shape({ id: text, name: text }),
    agents: list(agent),
    demo: flag,
  },
  subscribed: {
    conversation: text,
    busy: flag,
    lastRun: maybe(shape({ runId: text, outcome })),
  },
  accepted: { id: text, conversation: text, messageId: text, duplicate: flag },
  "run.start": inRun,
  "text.delta": { ...inRun, delta: text },
  "thinking.delta": { ...inRun, delta: text },
  "tool.start": { ...inRun, call: shape({ id: text, name: text, args: anything }) },
  "tool.end": {
    ...inRun,
    call: shape({ id: text, name: text, isError: flag, text, durationMs: count }),
  },
  message: { conversation: text, message },
  "run.end": {
    ...inRun,
    outcome,
    usage: maybe(shape({ inputTokens: count, outputTokens: count, costMicros: maybe(count) })),
    answers: maybe(list(text)),
  },
  error: { id: maybe(text), conversation: maybe(text), code: text, message: text, remedy: maybe(text) },
  pong: {},
};

/** Reads a frame that a client sent. Never throws; says what is wrong in words fit for an `error` frame. */
export function parseClientFrame(data: string): ParsedClientFrame {
  const value = parseJson(data);
  if (!isFields(value)) return { ok: false, message: "A frame is one JSON object." };
  const checks = own(CLIENT_FRAMES, value["type"]);
  const wrong = checks === undefined ? "type" : wrongField(value, checks);
  if (wrong === undefined && isFrame<ClientFrame>(value)) return { ok: true, frame: value };
  const where = wrong === "type" ? "an unknown or missing type" : `a missing or wrong "${wrong}"`;
  return {
    ok: false,
    message: `The frame has ${where}.`,
    ...(typeof value["id"] === "string" && { id: value["id"] }),
    ...(typeof value["conversation"] === "string" && { conversation: value["conversation"] }),
  };
}

/** Reads a frame of the gateway; undefined for a type that is unknown, or that lacks what it must hold. */
export function parseServerFrame(data: string): ServerFrame | undefined {
  const value = parseJson(data);
  if (!isFields(value)) return undefined;
  const checks = own(SERVER_FRAMES, value["type"]);
  if (checks === undefined || wrongField(value, checks) !== undefined) return undefined;
  return isFrame<ServerFrame>(value) ? value : undefined;
}

function message(value: unknown): boolean {
  return (
    wrongField(value, {
      id: text,
      role: oneOf("user", "assistant", "tool"),
      text,
      at: count,
      runId: maybe(text),
      call: maybe(shape({ id: text, name: text, args: anything, isError: flag, durationMs: maybe(count) })),
    }) === undefined
  );
}

/** The first field that fails its check. */
function wrongField(value: unknown, checks: Record<string, Check>): string | undefined {
  if (!isFields(value)) return "type";
  for (const [field, check] of Object.entries(checks)) if (!check(value[field])) return field;
  return undefined;
}

function own<T>(table: Record<string, T>, type: unknown): T | undefined {
  return typeof type === "string" && Object.hasOwn(table, type) ? table[type] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The tables above did the checking; this only tells the compiler. */
function isFrame<T extends ClientFrame | ServerFrame>(value: unknown): value is T {
  return isFields(value);
}

function parseJson(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
