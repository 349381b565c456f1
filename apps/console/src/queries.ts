import type { Client, Language, UsageQuery } from "@signalbox/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

/** What the page reads from the gateway. Nothing tells it of a change, but for conversations: it asks again. */

/** The conversations of whoever is signed in, the latest first. */
export const conversationsQuery = (client: Client) =>
  queryOptions({ queryKey: ["conversations"], queryFn: () => client.conversations() });

/** Tool calls of every session that wait for somebody's word. */
export const approvalsQuery = (client: Client) =>
  queryOptions({ queryKey: ["approvals"], queryFn: () => client.approvals(), refetchInterval: 4_000 });

/** The sessions of every channel. */
export const sessionsQuery = (client: Client) =>
  queryOptions({ queryKey: ["sessions"], queryFn: () => client.sessions(), refetchInterval: 5_000 });

/** The latest messages of all channels or of one session, often enough to watch them come in. */
export const messagesQuery = (client: Client, session?: string) =>
  queryOptions({
    queryKey: ["messages", session],
    queryFn: () => client.latestMessages(session),
    refetchInterval: 3_000,
  });

/** What became of one message. */
export const whyQuery = (client: Client, messageId: string, language: Language) =>
  queryOptions({
    queryKey: ["why", messageId, language],
    queryFn: () => client.why(messageId, language),
    refetchInterval: 3_000,
  });

/** Who was let in by a code, and who waits for that. */
export const pairingsQuery = (client: Client) =>
  queryOptions({ queryKey: ["pairings"], queryFn: () => client.pairings(), refetchInterval: 5_000 });

/** How the gateway and its channels do. */
export const statusQuery = (client: Client) =>
  queryOptions({ queryKey: ["status"], queryFn: () => client.status(), refetchInterval: 5_000 });

/** What runs have used, and what is left of budgets. */
export const usageQuery = (client: Client, wanted: UsageQuery) =>
  queryOptions({
    queryKey: ["usage", wanted],
    queryFn: () => client.usage(wanted),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
