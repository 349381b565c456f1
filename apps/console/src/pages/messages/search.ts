/** Search parameters of the page with the messages. */
export interface MessagesSearch {
  /** Key of a session. */
  session?: string;
}

/** Validates the search parameters of the URL. Invalid parameters are ignored. */
export function readMessagesSearch({ session }: Record<string, unknown>): MessagesSearch {
  return typeof session === "string" && session !== "" ? { session } : {};
}
