import { useCallback, useSyncExternalStore } from "react";

/** What the address names. */
export type Place =
  /** The chat; an empty id is a conversation that has not begun. */
  | { page: "chat"; conversation: string }
  | { page: "sessions" | "approvals" | "people" | "channels" }
  /** The latest messages, or those of one session. */
  | { page: "messages"; session?: string }
  | { page: "message"; id: string };

/** The longest id that an address may name. */
const LONGEST = 600;

export function hashOf(place: Place): string {
  switch (place.page) {
    case "chat":
      return `#/c/${encodeURIComponent(place.conversation)}`;
    case "messages":
      return place.session === undefined ? "#/messages" : `#/messages/${encodeURIComponent(place.session)}`;
    case "message":
      return `#/message/${encodeURIComponent(place.id)}`;
    default:
      return `#/${place.page}`;
  }
}

/** An address that names nothing is that of the chat. */
function placeOf(hash: string): Place {
  const [, page, encoded = ""] = /^#\/(\w+)(?:\/([^/]+))?$/.exec(hash) ?? [];
  const id = decoded(encoded);
  switch (page) {
    case "sessions":
    case "approvals":
    case "people":
    case "channels":
      return { page };
    case "messages":
      return id === "" ? { page } : { page, session: id };
    case "message":
      return { page, id };
    case "c":
      return { page: "chat", conversation: id };
    default:
      return { page: "chat", conversation: "" };
  }
}

/** The place that the address names, and a function that goes to another. */
export function usePlace(): [place: Place, go: (place: Place) => void] {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  const go = useCallback((place: Place) => {
    const before = placeOf(location.hash);
    // Back must not lead to an address without a conversation, which would only begin another.
    if (before.page === "chat" && before.conversation === "") location.replace(hashOf(place));
    else location.hash = hashOf(place);
  }, []);
  return [placeOf(hash), go];
}

function decoded(encoded: string): string {
  if (encoded.length > LONGEST) return "";
  try {
    return decodeURIComponent(encoded);
  } catch {
    return "";
  }
}

function subscribe(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}
