import type { Client } from "@signalbox/client";
import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import type { MessagesSearch } from "./search.ts";

/** Number of messages of one page. */
const PAGE_SIZE = 50;

/** Messages that match a search, latest first. They are polled often enough to watch them arrive. */
export const messagesQuery = (client: Client, search: MessagesSearch) =>
  infiniteQueryOptions({
    queryKey: ["messages", search],
    queryFn: ({ pageParam }) =>
      client.messages({ ...search, limit: PAGE_SIZE, ...(pageParam !== "" && { before: pageParam }) }),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    refetchInterval: 4_000,
    placeholderData: keepPreviousData,
  });
