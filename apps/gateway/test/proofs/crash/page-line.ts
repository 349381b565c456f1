import { type ClientOptions, createClient } from "@signalbox/client";
import type { ChatMessage, SentAttachment } from "@signalbox/protocol";
import type { PageAccess } from "./vendor.ts";

/** The page's connection: it comes back by itself, to whichever process listens then. */
export interface PageLine {
  /** Resolves with whether the gateway has it, after however many processes; not where one could not keep it. */
  send(message: { id: string; text: string; attachments?: SentAttachment[] }): Promise<boolean>;
  /** What its page shows: the answers that it has told of by their ids, and what was read where it began anew. */
  readonly told: ReadonlyMap<string, ChatMessage>;
  /** It breaks. */
  cut(): void;
  close(): void;
}

/** Something that the agent said, and no question that waits for a click. */
export function isAnswer({ id, role, text }: ChatMessage): boolean {
  return role === "assistant" && text !== "" && !id.startsWith("ask-");
}

/** In place of the address that a process has, and of one that there is none at. */
const GATEWAY = "http://gateway.example";
const NOBODY = "http://127.0.0.1:9";
const AGAIN_MS = 30;

/** @param read what the conversation holds, as far as a gateway can be asked */
export function openLine(
  access: PageAccess,
  conversation: string,
  read: () => Promise<readonly ChatMessage[]>,
): PageLine {
  const { token, agent, url } = access;
  const told = new Map<string, ChatMessage>();
  const at = (address: string): string => address.replace(GATEWAY, url() ?? NOBODY);
  let socket: WebSocket | undefined;

  /** Follows the gateway from port to port. */
  class Following extends WebSocket {
    constructor(address: string, how?: string[] | { headers: Record<string, string> }) {
      super(at(address.replace(/^ws/, "http")).replace(/^http/, "ws"), how);
      socket = this;
    }
  }
  const following: ClientOptions["WebSocket"] = Following;
  const client = createClient({
    baseUrl: GATEWAY,
    token,
    fetch: (input, init) => fetch(at(String(input)), init),
    WebSocket: following,
  });

  function tell(messages: readonly ChatMessage[]): void {
    for (const message of messages) {
      if (isAnswer(message)) told.set(message.id, message);
    }
  }

  const connection = client.connect({ backoffMs: () => AGAIN_MS });
  connection.onFrame((frame) => {
    if (frame.type === "message") tell([frame.message]);
    // Where it cannot go on from where it was, the history has what it missed.
    if (frame.type === "subscribed" && frame.resumed !== true) {
      told.clear();
      void read().then(tell);
    }
  });
  connection.subscribe(conversation, agent);

  return {
    told,
    send: (message) =>
      connection.send({ agent, conversation, ...message }).then(
        () => true,
        () => false,
      ),
    cut: () => socket?.close(),
    close: () => connection.close(),
  };
}
