/** Query of the address to which a window for signing in again returns. */
export const POPUP_QUERY = "?signed-in";

const PAGE = "page";

/**
 * Returns the address to which the browser comes back from the OpenID provider. The fragment, which names the page,
 * then contains the result of the sign-in, so the page is in the query.
 */
export function getReturnPath(): string {
  const page = location.hash.slice(1);
  return page.startsWith("/")
    ? `${location.pathname}?${new URLSearchParams({ [PAGE]: page })}`
    : location.pathname;
}

/** Replaces the result of a sign-in in the address bar and the history by the page of {@link getReturnPath}. */
export function restorePage(): void {
  const page = new URLSearchParams(location.search).get(PAGE);
  const rest = page?.startsWith("/") ? `#${page}` : location.search;
  history.replaceState(history.state, "", location.pathname + rest);
}
