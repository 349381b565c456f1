import { useCallback, useSyncExternalStore } from "react";

/** The conversation that the address names (`#/c/<id>`), and a function that goes to another. Empty: none. */
export function useConversationId(): [id: string, go: (id: string) => void] {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  const go = useCallback((id: string) => {
    // Back must not lead to an address without a conversation, which would only begin another.
    if (idOf(location.hash) === "") location.replace(conversationHash(id));
    else location.hash = conversationHash(id);
  }, []);
  return [idOf(hash), go];
}

export function conversationHash(id: string): string {
  return `#/c/${encodeURIComponent(id)}`;
}

function idOf(hash: string): string {
  try {
    return decodeURIComponent(/^#\/c\/(.{1,600})$/.exec(hash)?.[1] ?? "");
  } catch {
    return "";
  }
}

function subscribe(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}
