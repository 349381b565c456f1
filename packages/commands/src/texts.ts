import type { Role } from "@signalbox/routing";
import { THINKING_LEVELS } from "./read.ts";

/** The agent of a conversation. */
export interface NamedAgent {
  readonly id: string;
  readonly name: string;
}

function nameAndId({ id, name }: NamedAgent): string {
  return name === id ? id : `${name} (${id})`;
}

export interface StatusFacts {
  readonly version: string;
  readonly upMs: number;
  readonly agent: NamedAgent;
  /** `provider/model`. */
  readonly model: string;
  readonly thinking: string;
  readonly sessionKey: string;
  readonly messages: number;
  readonly isRunning: boolean;
  readonly waiting: number;
  readonly queueMode: string;
  /** What waits for an owner; absent for everybody else. */
  readonly forOwner?: { readonly calls: number; readonly skills: number };
}

export function statusText(facts: StatusFacts): string {
  const { version, upMs, agent, model, thinking, messages, sessionKey, isRunning, waiting } = facts;
  const { calls = 0, skills = 0 } = facts.forOwner ?? {};
  return [
    `Signalbox ${version}, up for ${duration(upMs)}.`,
    `Agent: ${nameAndId(agent)}, model ${model}, thinking ${thinking}.`,
    `Conversation: ${messages} messages, ${sessionKey}.`,
    `Now: ${isRunning ? "a turn runs" : "nothing runs"}, ${waiting} waiting, queue mode ${facts.queueMode}.`,
    ...(calls > 0 ? [`${calls} tool calls wait for an approval: /approve`] : []),
    ...(skills > 0 ? [`${skills} skills are new or have changed and wait for you: /skills`] : []),
  ].join("\n");
}

export interface WhoamiFacts {
  /** `channel:id`. */
  readonly speaker: string;
  readonly role: Role;
  /** By which the gate let them in. */
  readonly rule: string;
  readonly agent: NamedAgent;
  readonly conversation: { readonly id: string; readonly kind: string };
  readonly sessionKey: string;
}

export function whoamiText({ speaker, role, rule, agent, conversation, sessionKey }: WhoamiFacts): string {
  const place =
    conversation.kind === "direct" ? "a direct chat" : `the ${conversation.kind} ${conversation.id}`;
  return [
    `You are ${speaker}, ${role === "owner" ? "an owner" : `a ${role}`} (${rule}).`,
    `You talk to ${nameAndId(agent)} in ${place}.`,
    `Conversation: ${sessionKey}`,
  ].join("\n");
}

/** @param dropped messages that waited */
export function stoppedText(wasRunning: boolean, dropped: number): string {
  const what = wasRunning ? "Stopped." : "Nothing was running.";
  if (dropped === 0) return what;
  return `${what} ${dropped === 1 ? "1 waiting message was" : `${dropped} waiting messages were`} dropped.`;
}

export function queueText(mode: string, isOwn: boolean, waiting: number): string {
  return `Queue mode: ${mode}${isOwn ? " (of this conversation)" : ""}. ${waiting} messages wait.`;
}

/** @param typed a skill that there is not; empty: nothing was typed */
export function skillsText(
  skills: readonly { readonly name: string; readonly description: string }[],
  typed: string,
): string {
  const head = typed === "" ? "Skills:" : `There is no skill ${typed.split(/\s/, 1)[0] ?? ""}. There are:`;
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`);
  return lines.length === 0 ? "This agent has no skills." : [head, ...lines].join("\n");
}

/** @param typed a model that cannot be used; empty: nothing was typed */
export function modelText(model: string, offered: readonly string[], typed: string): string {
  const head = typed === "" ? `Model: ${model}.` : `There is no usable model ${typed}.`;
  const lines = offered.map((one) => `- ${one}`);
  return [head, "There are:", ...lines, "/model default goes back to the agent's own."].join("\n");
}

/** @param typed a level that there is not; empty: nothing was typed */
export function thinkText(level: string, typed: string): string {
  const head = typed === "" ? `Thinking: ${level}.` : `There is no thinking level ${typed}.`;
  return `${head} There are: ${THINKING_LEVELS.join(", ")}, default.`;
}

/** What was used. Absent figures count as 0. */
export interface UsedTotals {
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  /** Millionths of a dollar. */
  readonly costMicros: number;
}

/** Exact: whole tokens, and dollars to the last millionth. */
export function usageText(totals: Partial<UsedTotals> = {}): string {
  const { modelCalls = 0, inputTokens = 0, cacheReadTokens = 0, outputTokens = 0, costMicros = 0 } = totals;
  return `${count(inputTokens)} tokens in (${count(cacheReadTokens)} of them cached), ${count(outputTokens)} out, ${count(modelCalls)} model calls, ${dollars(costMicros)}`;
}

/** Of integer micros, without a rounding. */
function dollars(micros: number): string {
  return `$${count(Math.floor(micros / 1e6))}.${String(micros % 1e6).padStart(6, "0")}`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.floor(ms / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
