import type { AgentEvent, ToolResultMessage } from "../src/index.ts";

/** Returns a letter for each event, so a run can be matched against the grammar that `AgentEvent` documents. */
function letter(event: AgentEvent): string {
  switch (event.type) {
    case "run.start":
      return "S";
    case "run.end":
      return "E";
    case "turn.start":
      return "T";
    case "turn.end":
      return "t";
    case "prune":
      return "P";
    case "compaction.start":
      return "C";
    case "compaction.end":
      return "c";
    case "model.start":
      return "M";
    case "model.discard":
      return event.reason === "retry" ? "d" : "D";
    case "attempt":
      return event.discard === true ? "A" : "a";
    case "block.start":
    case "block.end":
    case "text.delta":
    case "thinking.delta":
    case "tool.delta":
    case "usage":
      return "b";
    case "tool.ask":
      return "q";
    case "tool.start":
      return "s";
    case "tool.update":
      return "u";
    case "tool.end":
      return "e";
    case "message":
      return event.origin === "model" ? "m" : event.origin === "tool" ? "r" : "i";
    case "lagged":
      return "!";
  }
}

const SHORTER = "P?(?:Cc?)?";
const ANSWER = "a*M?[ba]*(?:Ada*M?[ba]*)*";
const TOOLS = "[sueq]*";
const TURN = `T${SHORTER}${ANSWER}(?:${SHORTER}D${ANSWER})?m?${TOOLS}r*ti*`;
/** A turn in which the run stopped before the request. */
const STOPPED = `T${SHORTER}(?:${ANSWER}${SHORTER}D)?`;
const RUN = new RegExp(`^S(?:${TOOLS}r+)*${TOOLS}i*(?:${TURN})*(?:${STOPPED})?E$`);

/** Returns the differences between the events of one run and the documentation. */
export function orderProblems(events: readonly AgentEvent[]): string[] {
  const problems: string[] = [];
  const word = events.map(letter).join("");
  const end = events.at(-1);
  // A failed hook ends the run at any point.
  const broken = end?.type === "run.end" && end.result.failure !== undefined;
  if (broken ? !/^S[^SE]*E$/.test(word) : !RUN.test(word)) problems.push(`order: ${word}`);
  problems.push(...callProblems(events, broken), ...turnProblems(events));
  return problems;
}

function callProblems(events: readonly AgentEvent[], broken: boolean): string[] {
  const problems: string[] = [];
  const started = new Set<string>();
  const ended = new Map<string, ToolResultMessage>();
  for (const event of events) {
    if (event.type === "tool.start") {
      if (started.has(event.call.id) || ended.has(event.call.id))
        problems.push(`${event.call.id} starts again`);
      started.add(event.call.id);
    } else if (event.type === "tool.update") {
      if (!started.has(event.callId) || ended.has(event.callId))
        problems.push(`${event.callId} is not at work`);
    } else if (event.type === "tool.ask") {
      if (started.has(event.call.id) || ended.has(event.call.id)) problems.push(`${event.call.id} asks late`);
    } else if (event.type === "tool.end") {
      if (ended.has(event.call.id)) problems.push(`${event.call.id} ends again`);
      ended.set(event.call.id, event.result);
    } else if (event.type === "message" && event.message.role === "toolResult") {
      if (ended.get(event.message.toolCallId) !== event.message)
        problems.push(`${event.message.toolCallId} has another result`);
    }
  }
  if (broken) return problems;
  for (const id of started) if (!ended.has(id)) problems.push(`${id} does not end`);
  return problems;
}

/** Checks that turn numbers increase by one, and that `turn.end` has the emitted message and results in order. */
function turnProblems(events: readonly AgentEvent[]): string[] {
  const problems: string[] = [];
  let turn = 0;
  let results: ToolResultMessage[] = [];
  for (const event of events) {
    if (event.type === "turn.start") {
      if (event.turn !== ++turn) problems.push(`turn ${event.turn} after ${turn - 1}`);
      results = [];
    } else if (event.type === "message" && event.message.role === "toolResult") {
      results.push(event.message);
    } else if (event.type === "turn.end") {
      if (event.turn !== turn) problems.push(`end of turn ${event.turn} in ${turn}`);
      if (results.length !== event.results.length || results.some((result, i) => result !== event.results[i]))
        problems.push(`results of turn ${turn}`);
      const calls = event.message.content.flatMap((block) => (block.type === "toolCall" ? block.id : []));
      const order = event.results.map((result) => calls.indexOf(result.toolCallId));
      if (order.some((place, i) => place < 0 || (i > 0 && place <= (order[i - 1] ?? 0))))
        problems.push(`order of the results of turn ${turn}`);
    }
  }
  return problems;
}
