import type {
  AttachmentInfo,
  ChatMessage,
  Problem,
  RunEnd,
  RunOutcome,
  RunUsage,
  SentAttachment,
} from "@signalbox/client";

/** An attachment of a message. Images that were chosen on this page have a preview. */
export interface Shown extends AttachmentInfo {
  preview?: string;
}

/** An uploaded file that can be sent with a message. */
export interface Uploaded extends SentAttachment {
  preview?: string;
}

export type Item =
  | {
      kind: "user";
      key: string;
      /** Id of the message. Until it is accepted, the id of the `send`. */
      id: string;
      text: string;
      state: "sending" | "sent" | "refused";
      problem?: Problem;
      files?: readonly Shown[];
      /** Files to send if the user retries. */
      unsent?: readonly Uploaded[];
      /** The context was reset before this message. */
      begins?: true;
    }
  | {
      kind: "assistant";
      key: string;
      /** Absent while the message is streaming. */
      id?: string;
      runId?: string;
      text: string;
      /** Suggested replies. */
      choices?: readonly string[];
      thinking: string;
      /** `cut`: the run ended before the message was finished. */
      state: "streaming" | "done" | "cut";
    }
  | {
      kind: "tool";
      key: string;
      /** Id of the call. */
      id: string;
      runId?: string;
      name: string;
      args: unknown;
      /** `lost`: the run ended without a result. */
      state: "running" | "done" | "failed" | "lost";
      text: string;
      durationMs?: number;
    }
  | { kind: "end"; key: string; runId: string; outcome: RunOutcome; usage?: RunUsage; error?: Problem }
  | { kind: "problem"; key: string; problem: Problem };

/** Creates the item for the end of a run. */
export function endItem(end: RunEnd): Item {
  return { kind: "end", key: `end ${end.runId}`, ...end };
}

/** Replaces an item with the gateway's version, but keeps its key and the data that only the page has. */
export function keep(old: Item | undefined, item: Item): Item {
  if (old === undefined) return item;
  if (old.kind === "assistant" && item.kind === "assistant")
    return { ...item, key: old.key, thinking: old.thinking };
  if (old.kind === "user" && item.kind === "user") {
    const { files, begins } = old;
    return { ...item, key: old.key, ...(files && { files }), ...(begins && { begins }) };
  }
  return { ...item, key: old.key };
}

/** Returns true if an item represents this message. */
export function same(item: Item, message: ChatMessage): boolean {
  switch (item.kind) {
    case "user":
      return message.role === "user" && item.id === message.id;
    case "assistant":
      return message.role === "assistant" && item.id === message.id;
    case "tool":
      return message.role === "tool" && item.id === (message.call?.id ?? message.id);
    case "end":
    case "problem":
      return false;
  }
}

/** Creates the item for a message. Returns undefined for the empty text of a turn that only called tools. */
export function itemOf(message: ChatMessage): Item | undefined {
  const { id, text, choices } = message;
  const run = message.runId === undefined ? {} : { runId: message.runId };
  switch (message.role) {
    case "user":
      return {
        kind: "user",
        key: id,
        id,
        text,
        state: "sent",
        ...(message.attachments && { files: message.attachments }),
        ...(message.begins && { begins: true }),
      };
    case "assistant":
      if (text.trim() === "") return undefined;
      return {
        kind: "assistant",
        key: id,
        id,
        ...run,
        text,
        ...(choices && { choices }),
        thinking: "",
        state: "done",
      };
    case "tool": {
      const call = message.call ?? { id, name: "tool", args: undefined, isError: false };
      const { durationMs } = message.call ?? {};
      const state = call.isError ? "failed" : "done";
      const timed = durationMs === undefined ? {} : { durationMs };
      return {
        kind: "tool",
        key: call.id,
        id: call.id,
        ...run,
        name: call.name,
        args: call.args,
        state,
        text,
        ...timed,
      };
    }
  }
}

export function isStreaming(item: Item): item is Extract<Item, { kind: "assistant" }> {
  return item.kind === "assistant" && item.state === "streaming";
}
