import type {
  AttachmentInfo,
  ChatMessage,
  Problem,
  RunEnd,
  RunOutcome,
  RunUsage,
  SentAttachment,
} from "@signalbox/client";

/** What came with a message; pictures that were chosen on this page show. */
export interface Shown extends AttachmentInfo {
  preview?: string;
}

/** A file that the gateway has, for a message that is to go with it. */
export interface Uploaded extends SentAttachment {
  preview?: string;
}

export type Item =
  | {
      kind: "user";
      key: string;
      /** Id of the message; that of the `send` until it is accepted. */
      id: string;
      text: string;
      state: "sending" | "sent" | "refused";
      problem?: Problem;
      files?: readonly Shown[];
      /** What goes with it where it is sent again. */
      unsent?: readonly Uploaded[];
      /** The agent begins anew with it, and knows nothing of what stands above. */
      begins?: true;
    }
  | {
      kind: "assistant";
      key: string;
      /** Absent until the message is finished. */
      id?: string;
      runId?: string;
      text: string;
      /** Answers that may be sent to it as they are. */
      choices?: readonly string[];
      thinking: string;
      /** `cut`: its run ended before it was finished. */
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
      /** `lost`: its run ended without a result. */
      state: "running" | "done" | "failed" | "lost";
      text: string;
      durationMs?: number;
    }
  | { kind: "end"; key: string; runId: string; outcome: RunOutcome; usage?: RunUsage; error?: Problem }
  | { kind: "problem"; key: string; problem: Problem };

/** How the end of a run is shown. */
export function endItem(end: RunEnd): Item {
  return { kind: "end", key: `end ${end.runId}`, ...end };
}

/** What the gateway says, under the key and with the thinking that the page already has. */
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

/** Whether an item is of this message. */
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

/** How a message is shown. Undefined for the empty text of a turn that only called tools. */
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
