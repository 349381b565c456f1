import { createHash } from "node:crypto";
import { getSpeakerKey, type MessageEvent } from "@signalbox/channel";
import { parseSessionKey } from "@signalbox/routing";
import type { SessionPosition } from "@signalbox/store";
import { readSessionTaint, type SessionsCall } from "@signalbox/tools";
import { formatHistory } from "./format-history.ts";
import { type EmitTrigger, getPlace, messageAt, type Place, placeSchema } from "./trigger.ts";
import type { TriggeringRun, TriggerStore } from "./types.ts";

/** Sessions that an agent can access besides its own. */
interface SessionReach {
  /** `tree`: none. `agent`: sessions of the same agent. `all`: also sessions of `agents`. */
  readonly visibility: "tree" | "agent" | "all";
  /** Agents that may access each other's conversations. */
  readonly agents: readonly string[];
}

export interface OtherSessionsOptions {
  readonly store: {
    readonly sessions: TriggerStore["sessions"];
    readonly inbox: TriggerStore["inbox"];
    readonly kv: TriggerStore["kv"];
  };
  /** Returns an explanation for the model if the platform would reject the answer in a conversation. */
  readonly findRefusal: (to: Place) => Promise<string | undefined>;
  /** Returns the configuration in effect. */
  readonly reach: () => SessionReach;
  readonly now: () => number;
}

/** An agent's access to other sessions. Errors are shown to the model. */
export interface OtherSessions {
  /** Sets the function that passes messages to the pipeline. */
  start(trigger: EmitTrigger): void;
  /** Sends a message to another session. The answer goes to the people of that session. */
  send(key: string, text: string, run: TriggeringRun, call: SessionsCall): Promise<string>;
  list(run: TriggeringRun, call: SessionsCall): Promise<string>;
  history(key: string, limit: number, run: TriggeringRun, call: SessionsCall): Promise<string>;
}

/** Maximum number of conversations to list. */
const MAX_LISTED = 20;
/** Maximum number of an agent's sessions to search for conversations. They include the sessions of sub-agents. */
const PAGE = 100;
const MAX_PAGES = 10;
/** Namespace for the conversation to which a call sent its message. Stored for as long as the call may be repeated. */
const SENT_TO = "said-in";
const SENT_TO_TTL_MS = 7 * 24 * 60 * 60 * 1000;

export function createOtherSessions(ports: OtherSessionsOptions): OtherSessions {
  let trigger: EmitTrigger | undefined;
  return {
    start(given) {
      trigger = given;
    },
    send: (key, text, run, call) => send(ports, trigger, { key, text }, run, call),
    list: (run, call) => list(ports, run, call),
    history: (key, limit, run, call) => history(ports, { key, limit }, run, call),
  };
}

async function send(
  ports: OtherSessionsOptions,
  trigger: EmitTrigger | undefined,
  { key, text }: { readonly key: string; readonly text: string },
  run: TriggeringRun,
  { callId, run: { facts } }: SessionsCall,
): Promise<string> {
  mustReach(key, run, ports);
  if (run.trigger?.saidFrom !== undefined)
    throw new Error("Answer what another conversation said here; do not pass it on.");
  // The id is the same if the call is repeated after a crash.
  const eventId = `session:${createHash("sha256").update(`${run.runId} ${callId}`).digest("hex").slice(0, 16)}`;
  const place = await placeFor(ports, eventId, key);
  const agentId = parseSessionKey(key)?.agentId;
  if (place === undefined || agentId === undefined) throw new Error(`Nobody has written in ${key} recently.`);
  const refusal = await ports.findRefusal(place);
  if (refusal !== undefined) throw new Error(refusal);
  const isSamePerson = getSpeakerKey(run.event) === getSpeakerKey(place);
  const sources = facts.taint.map(({ source }) => source);
  // The agent may quote this text to people in the conversation, so it contains no names of people or sessions.
  const head = `[A message from the agent ${run.agent.id} in another conversation, requested by a person with the role ${facts.role}. The people in this conversation will see your answer.]`;
  const triggered = await trigger?.(
    messageAt(place, { eventId, dueAt: ports.now(), text: `${head}\n${text}` }),
    {
      agentId,
      sessionKey: key,
      atMost: facts.role,
      saidFrom: run.sessionKey,
      delegated: {
        taint: [...new Set([...sources, ...(isSamePerson ? [] : ["person" as const])])],
        chain: run.trigger?.delegated?.chain ?? run.messageId,
      },
    },
  );
  if (triggered?.outcome !== "taken")
    throw new Error("The message cannot be accepted right now. Try again later.");
  return `Said in ${key}. The agent there answers the people in that conversation.`;
}

/**
 * Chooses the conversation in which a session's people receive the answer. The choice is stored before the message is
 * sent: a session may have several conversations, and a repeated message in another one would count as new.
 */
async function placeFor(
  { store }: OtherSessionsOptions,
  eventId: string,
  sessionKey: string,
): Promise<Place | undefined> {
  const kept = placeSchema.safeParse(await store.kv.get(SENT_TO, eventId));
  if (kept.success) return kept.data;
  const last = await lastIn(store, sessionKey);
  if (last === undefined) return undefined;
  const place = getPlace(last);
  await store.kv.set(SENT_TO, eventId, place, SENT_TO_TTL_MS);
  return place;
}

async function list(ports: OtherSessionsOptions, run: TriggeringRun, call: SessionsCall): Promise<string> {
  const { store, reach } = ports;
  const agents = new Set([run.agent.id, ...(reach().visibility === "all" ? reach().agents : [])]);
  const reached = await Promise.all([...agents].map((agentId) => findLatestSessions(agentId, run, ports)));
  const shown = reached
    .flat()
    .toSorted((one, other) => other.updatedAt - one.updatedAt)
    .slice(0, MAX_LISTED);
  if (shown.length === 0) return "There are no other conversations you can reach.";
  // Titles and session keys may contain text or names chosen by untrusted people.
  call.run.taint({ source: "person", detail: "the list of other conversations" });
  const lines = shown.map(async ({ key, title, updatedAt }) => {
    const address = (await lastIn(store, key))?.address;
    const facts = [title, address, new Date(updatedAt).toISOString()].filter((fact) => fact !== undefined);
    return `${key} (${facts.join(", ")})`;
  });
  return (await Promise.all(lines)).join("\n");
}

/** Returns the latest conversations of an agent that a run can access. */
async function findLatestSessions(
  agentId: string,
  run: TriggeringRun,
  { store, reach }: OtherSessionsOptions,
) {
  const reached = [];
  let last: SessionPosition | undefined;
  for (let page = 0; page < MAX_PAGES && reached.length < MAX_LISTED; page++) {
    const behind = last === undefined ? {} : { behind: last };
    const sessions = await store.sessions.list({ agentId, limit: PAGE, ...behind });
    reached.push(...sessions.filter(({ key }) => key !== run.sessionKey && isReached(key, run, reach())));
    if (sessions.length < PAGE) break;
    last = sessions.at(-1);
  }
  return reached;
}

async function history(
  ports: OtherSessionsOptions,
  { key, limit }: { readonly key: string; readonly limit: number },
  run: TriggeringRun,
  call: SessionsCall,
): Promise<string> {
  const { sessions } = ports.store;
  mustReach(key, run, ports);
  const session = await sessions.get(key);
  if (session === undefined) throw new Error(`There is no conversation ${key}.`);
  for (const source of new Set([...(readSessionTaint(session.data)?.sources ?? []), "person" as const]))
    call.run.taint({ source, detail: `the conversation ${key}` });
  return formatHistory(await sessions.history(key, { limit }));
}

/** Finds the latest message in a conversation in which people can receive an answer. */
async function lastIn(
  { inbox }: OtherSessionsOptions["store"],
  sessionKey: string,
): Promise<MessageEvent | undefined> {
  const rows = await inbox.list({ sessionKey, limit: MAX_LISTED });
  return rows.find(({ payload: { event } }) => event.channel !== "api")?.payload.event;
}

function mustReach(key: string, run: TriggeringRun, { reach }: OtherSessionsOptions): void {
  if (key === run.sessionKey) throw new Error("That is the conversation you are in.");
  if (!isReached(key, run, reach()))
    throw new Error(`You cannot reach a conversation ${key}. sessions_list shows those you can.`);
}

/**
 * Returns true if the session may be accessed. A sub-agent can access only its creator, and no other session can access
 * the sub-agent.
 */
function isReached(
  key: string,
  { agent, trigger }: TriggeringRun,
  { visibility, agents }: SessionReach,
): boolean {
  const parts = parseSessionKey(key);
  if (parts === undefined || parts.kind === "subagent" || trigger?.subAgent !== undefined) return false;
  if (parts.agentId === agent.id) return visibility !== "tree";
  return visibility === "all" && [agent.id, parts.agentId].every((id) => agents.includes(id));
}
