import { createHash } from "node:crypto";
import { speakerOf } from "@signalbox/channel";
import { parseSessionKey } from "@signalbox/routing";
import { type SessionsCall, taintIn } from "@signalbox/tools";
import type { WakesStore, WakingRun } from "./ports.ts";
import { historyInWords } from "./session-words.ts";
import { messageAt, placeOf, type WakeAgent } from "./wake.ts";

/** Which conversations an agent reaches besides the one that it is in. */
export interface SessionReach {
  /** `tree`: none; `agent`: those of the same agent; `all`: those of `agents` too. */
  readonly visibility: "tree" | "agent" | "all";
  /** Agents that reach each other's conversations. */
  readonly agents: readonly string[];
}

export interface OtherSessionsPorts {
  readonly store: {
    readonly sessions: Pick<WakesStore["sessions"], "list" | "get" | "history">;
    readonly inbox: Pick<WakesStore["inbox"], "list">;
  };
  /** As it is at the moment. */
  readonly reach: () => SessionReach;
  readonly now: () => number;
}

/** What an agent does about conversations other than the one that it is in. Errors are told to the model. */
export interface OtherSessions {
  /** Has what is said go the way of every message. */
  start(wake: WakeAgent): void;
  /** Says something to the agent of another conversation, which answers it there. */
  send(key: string, text: string, run: WakingRun, call: SessionsCall): Promise<string>;
  list(run: WakingRun): Promise<string>;
  history(key: string, limit: number, run: WakingRun, call: SessionsCall): Promise<string>;
}

/** Conversations that are shown, and those that are looked through for them. */
const MOST_SHOWN = 20;
const LOOKED_THROUGH = 100;

export function createOtherSessions({ store, reach, now }: OtherSessionsPorts): OtherSessions {
  let wake: WakeAgent | undefined;

  /** The newest message of a conversation that people can be answered in. */
  const lastIn = async (sessionKey: string) => {
    const rows = await store.inbox.list({ sessionKey, limit: MOST_SHOWN });
    return rows.find(({ payload: { event } }) => event.channel !== "api")?.payload.event;
  };

  const reached = (key: string, run: WakingRun): void => {
    if (key === run.sessionKey) throw new Error("That is the conversation that you are in.");
    if (!isReached(key, run, reach()))
      throw new Error(`You reach no conversation ${key}. sessions_list shows others that you do.`);
  };

  return {
    start(given) {
      wake = given;
    },

    async send(key, text, run, { callId, run: { facts } }) {
      reached(key, run);
      if (run.wake?.saidFrom !== undefined)
        throw new Error("What another conversation said is answered where you are, and passed on to none.");
      const last = await lastIn(key);
      const agentId = parseSessionKey(key)?.agentId;
      if (last === undefined || agentId === undefined)
        throw new Error(`Nobody has written in ${key} lately.`);
      const speaker = speakerOf(run.event);
      const isSamePerson = speaker === speakerOf(last);
      const sources = facts.taint.map(({ source }) => source);
      const said = {
        // The same call, made again after a crash, is the same message.
        eventId: `session:${createHash("sha256").update(`${run.runId} ${callId}`).digest("hex").slice(0, 16)}`,
        dueAt: now(),
        text: `[The agent ${run.agent.id} says this from ${run.sessionKey}, asked by ${speaker}. Whoever is here sees what you answer.]\n${text}`,
      };
      const woken = await wake?.(messageAt(placeOf(last), said), {
        agentId,
        sessionKey: key,
        atMost: facts.role,
        saidFrom: run.sessionKey,
        delegated: {
          taint: [...new Set([...sources, ...(isSamePerson ? [] : ["person" as const])])],
          chain: run.wake?.delegated?.chain ?? run.messageId,
        },
      });
      if (woken?.outcome !== "taken") throw new Error("It cannot be taken just now. Try again later.");
      return `Said in ${key}. What the agent there answers goes to whoever is there.`;
    },

    async list(run) {
      const sessions = await store.sessions.list({ limit: LOOKED_THROUGH });
      const shown = sessions
        .filter(({ key }) => key !== run.sessionKey && isReached(key, run, reach()))
        .slice(0, MOST_SHOWN);
      if (shown.length === 0) return "There are no other conversations that you reach.";
      const lines = shown.map(async ({ key, title, updatedAt }) => {
        const address = (await lastIn(key))?.address;
        const facts = [title, address, new Date(updatedAt).toISOString()].filter(
          (fact) => fact !== undefined,
        );
        return `${key} (${facts.join(", ")})`;
      });
      return (await Promise.all(lines)).join("\n");
    },

    async history(key, limit, run, call) {
      reached(key, run);
      const session = await store.sessions.get(key);
      if (session === undefined) throw new Error(`There is no conversation ${key}.`);
      for (const source of new Set([...(taintIn(session.data)?.sources ?? []), "person" as const]))
        call.run.taint({ source, detail: `the conversation ${key}` });
      return historyInWords(await store.sessions.history(key, { limit }));
    },
  };
}

/** A sub-agent reaches nobody but its maker, and nobody reaches it so. */
function isReached(key: string, { agent, wake }: WakingRun, { visibility, agents }: SessionReach): boolean {
  const parts = parseSessionKey(key);
  if (parts === undefined || parts.kind === "subagent" || wake?.subAgent !== undefined) return false;
  if (parts.agentId === agent.id) return visibility !== "tree";
  return visibility === "all" && [agent.id, parts.agentId].every((id) => agents.includes(id));
}
