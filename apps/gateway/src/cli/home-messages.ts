import type { MessageInfo, Trace } from "@signalbox/client";
import { listMessages, readTrace } from "../messages/traces.ts";
import type { CommonOptions } from "./common-options.ts";
import { withStore } from "./home-store.ts";

export interface MessagesWanted {
  readonly limit: number;
  /** Returns only messages from this session. */
  readonly session?: string;
}

/** Returns the latest messages, newest first. */
export function latestMessages(
  options: CommonOptions,
  { limit, session }: MessagesWanted,
): Promise<MessageInfo[]> {
  const wanted = { limit, sessionKey: session };
  return withStore(options, "read", (store) => listMessages(store, wanted));
}

/** Reads the trace of a message by the gateway's id or the platform's id. */
export function readStoredTrace(options: CommonOptions, id: string): Promise<Trace | undefined> {
  return withStore(options, "read", (store) => readTrace(store, id));
}
