/** Computes the items of a conversation from its history and its frames. All functions are pure. */
import type {
  ChatMessage,
  ConversationHistory,
  Problem,
  RunOutcome,
  RunUsage,
  ServerFrame,
} from "@signalbox/client";
import { endItem, type Item, isStreaming, itemOf, keep, same, type Uploaded } from "./item.ts";
import { merge } from "./merge-history.ts";

export interface View {
  items: Item[];
  /** Id of the current run. */
  run: string | undefined;
  /** A message was accepted and its run has not started. */
  waiting: boolean;
  /** True when the history has been loaded. */
  loaded: boolean;
  /** Counter for the keys of items without an id. */
  count: number;
}

export type Change =
  | { type: "frame"; frame: ServerFrame }
  | { type: "history"; history: ConversationHistory }
  | { type: "sending"; id: string; text: string; files?: readonly Uploaded[] }
  | { type: "refused"; id: string; problem: Problem; files: readonly Uploaded[] }
  | { type: "problem"; problem: Problem }
  | { type: "dismiss"; key: string };

export const EMPTY: View = { items: [], run: undefined, waiting: false, loaded: false, count: 0 };

export function isBusy(view: View): boolean {
  return view.run !== undefined || view.waiting;
}

export function applyChange(view: View, change: Change): View {
  switch (change.type) {
    case "frame":
      return applyFrame(view, change.frame);
    case "history":
      return { ...view, loaded: true, items: merge(change.history, view.items) };
    case "sending": {
      const { id, text, files } = change;
      return add(view, { kind: "user", key: id, id, text, state: "sending", ...(files && { files }) });
    }
    case "refused":
      return update(view, (item) =>
        item.kind === "user" && item.id === change.id
          ? { ...item, state: "refused", problem: change.problem, unsent: change.files }
          : item,
      );
    case "problem":
      return addProblem(view, change.problem);
    case "dismiss":
      return { ...view, items: view.items.filter((item) => item.key !== change.key) };
  }
}

function applyFrame(view: View, frame: ServerFrame): View {
  switch (frame.type) {
    case "subscribed": {
      if (frame.busy) return { ...view, waiting: view.run === undefined };
      // The frames that follow include the end of the run.
      if (frame.resumed) return { ...view, waiting: false };
      // The history is loaded after each reconnect and contains the text that was streaming.
      const idle = { ...view, run: undefined, waiting: false };
      const streamed = idle.items.filter((item) => !isStreaming(item));
      const ended = { ...idle, items: streamed };
      const missed = frame.lastRun !== undefined && frame.lastRun.runId === view.run;
      return missed && frame.lastRun ? endOfRun(ended, frame.lastRun.runId, frame.lastRun.outcome) : ended;
    }
    case "accepted":
      return accepted(view, frame.id, frame.messageId, frame.duplicate);
    case "run.start": {
      const items = view.items.filter((item) => !(isStreaming(item) && item.runId === frame.runId));
      return { ...view, items, run: frame.runId, waiting: false };
    }
    case "text.delta":
      return stream(view, frame.runId, { text: frame.delta });
    case "thinking.delta":
      return stream(view, frame.runId, { thinking: frame.delta });
    case "tool.start": {
      const { id, name, args } = frame.call;
      if (view.items.some((item) => item.kind === "tool" && item.id === id)) return view;
      const { runId } = frame;
      return add(view, { kind: "tool", key: id, id, runId, name, args, state: "running", text: "" });
    }
    case "tool.update": {
      const { id, text } = frame.call;
      return update(view, (item) =>
        item.kind === "tool" && item.id === id && item.state === "running" ? { ...item, text } : item,
      );
    }
    case "tool.end": {
      const { id, isError, text, durationMs } = frame.call;
      return update(view, (item) =>
        item.kind === "tool" && item.id === id
          ? { ...item, state: isError ? "failed" : "done", text, durationMs }
          : item,
      );
    }
    case "message":
      return finished(view, frame.message);
    case "reset":
      return update(view, (item) =>
        item.kind === "user" && item.id === frame.messageId ? { ...item, begins: true } : item,
      );
    case "run.end":
      return endOfRun(view, frame.runId, frame.outcome, frame.usage);
    case "error": {
      const { code, message, remedy } = frame;
      const problem = { code, message, ...(remedy !== undefined && { remedy }) };
      if (frame.runId !== undefined) return failing(view, frame.runId, problem);
      // An error with an id rejects the promise of `send`, which reports it.
      return frame.id === undefined ? addProblem(view, problem) : view;
    }
    case "ready":
    case "activity":
    case "pong":
      return view;
  }
}

function accepted(view: View, sendId: string, messageId: string, duplicate: boolean): View {
  const waiting = view.waiting || (!duplicate && view.run === undefined);
  // The message may have arrived in a frame or in the history before the accepted frame.
  const known = view.items.some((item) => item.kind === "user" && item.id === messageId);
  const items = view.items
    .filter((item) => !(known && item.kind === "user" && item.id === sendId && sendId !== messageId))
    .map(
      (item): Item =>
        item.kind === "user" && item.id === sendId ? { ...item, id: messageId, state: "sent" } : item,
    );
  return { ...view, items, waiting };
}

function stream(view: View, runId: string, delta: { text?: string; thinking?: string }): View {
  // Messages that the user sends meanwhile stay below and do not split the streaming text.
  const place = view.items.findLastIndex(({ kind }) => kind !== "user");
  const last = view.items[place];
  const { text = "", thinking = "" } = delta;
  if (last !== undefined && isStreaming(last) && last.runId === runId) {
    const grown = { ...last, text: last.text + text, thinking: last.thinking + thinking };
    return { ...view, items: view.items.with(place, grown) };
  }
  return addNumbered(view, (key) => ({ kind: "assistant", key, runId, text, thinking, state: "streaming" }));
}

/** Replaces the streamed text with the finished message, or appends the message. */
function finished(view: View, message: ChatMessage): View {
  const item = itemOf(message);
  const at = view.items.findIndex((each) => same(each, message));
  if (message.role !== "assistant" || message.runId === undefined) {
    if (item === undefined || at < 0) return item === undefined ? view : add(view, item);
    return { ...view, items: view.items.with(at, keep(view.items[at], item)) };
  }
  const streamed = view.items.findIndex((each) => isStreaming(each) && each.runId === message.runId);
  if (at >= 0) return { ...view, items: view.items.filter((_, place) => place !== streamed) };
  const before = view.items[streamed];
  if (before?.kind !== "assistant") return item === undefined ? view : add(view, item);
  const { id, text, choices } = message;
  const done = { ...before, id, text, ...(choices && { choices }), state: "done" } as const;
  return { ...view, items: view.items.with(streamed, done) };
}

function endOfRun(view: View, runId: string, outcome: RunOutcome, usage?: RunUsage): View {
  const settled = update(view, (item) => {
    if (item.kind === "assistant" && item.runId === runId && item.state === "streaming")
      return { ...item, state: "cut" };
    if (item.kind === "tool" && item.runId === runId && item.state === "running")
      return { ...item, state: "lost" };
    return item;
  });
  const told = settled.items.find((item) => item.kind === "end" && item.runId === runId);
  const items = settled.items.filter((item) => item !== told);
  const error = told?.kind === "end" ? told.error : undefined;
  const end = endItem({ runId, outcome, ...(usage && { usage }), ...(error && { error }) });
  // A chat command can end while another run is current.
  const another = view.run !== undefined && view.run !== runId;
  return { ...settled, items: [...items, end], ...(another ? {} : { run: undefined, waiting: false }) };
}

/** Stores the error of a run, which arrives before its end. */
function failing(view: View, runId: string, error: Problem): View {
  return add(view, endItem({ runId, outcome: "failed", error }));
}

function add(view: View, item: Item): View {
  return { ...view, items: [...view.items, item] };
}

function addNumbered(view: View, make: (key: string) => Item): View {
  const count = view.count + 1;
  return { ...view, count, items: [...view.items, make(`#${count}`)] };
}

function addProblem(view: View, problem: Problem): View {
  return addNumbered(view, (key) => ({ kind: "problem", key, problem }));
}

function update(view: View, change: (item: Item) => Item): View {
  return { ...view, items: view.items.map(change) };
}
