import type { Client, Language, UsageQuery } from "@signalbox/client";
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

/** Queries of the page. Only conversations are pushed by the gateway; everything else is polled. */

/** The user's conversations, latest first. */
export const conversationsQuery = (client: Client) =>
  queryOptions({ queryKey: ["conversations"], queryFn: () => client.conversations() });

/** Pending approvals of all sessions. */
export const approvalsQuery = (client: Client) =>
  queryOptions({ queryKey: ["approvals"], queryFn: () => client.approvals(), refetchInterval: 4_000 });

/** Sessions of all channels. */
export const sessionsQuery = (client: Client) =>
  queryOptions({ queryKey: ["sessions"], queryFn: () => client.sessions(), refetchInterval: 5_000 });

/** Latest messages of all channels or of one session, polled often enough to watch them arrive. */
export const messagesQuery = (client: Client, session?: string) =>
  queryOptions({
    queryKey: ["messages", session],
    queryFn: () => client.latestMessages(session),
    refetchInterval: 3_000,
  });

/** Explanation and trace of one message. */
export const whyQuery = (client: Client, messageId: string, language: Language) =>
  queryOptions({
    queryKey: ["why", messageId, language],
    queryFn: () => client.why(messageId, language),
    refetchInterval: 3_000,
  });

/** Paired people and pending pairing requests. */
export const pairingsQuery = (client: Client) =>
  queryOptions({ queryKey: ["pairings"], queryFn: () => client.pairings(), refetchInterval: 5_000 });

/** State of the gateway and its channels. */
export const statusQuery = (client: Client) =>
  queryOptions({ queryKey: ["status"], queryFn: () => client.status(), refetchInterval: 5_000 });

/** Usage of runs and balances of budgets. */
export const usageQuery = (client: Client, wanted: UsageQuery) =>
  queryOptions({
    queryKey: ["usage", wanted],
    queryFn: () => client.usage(wanted),
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
  });
