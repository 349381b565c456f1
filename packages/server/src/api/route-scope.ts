import { API_ROUTES, type ApiRoute } from "@signalbox/protocol";
import type { MiddlewareHandler } from "hono";
import { TrieRouter } from "hono/router/trie-router";
import { type Auth, hasScope } from "../auth/index.ts";
import { apiErrors } from "../error-replies.ts";
import type { Env } from "../middleware.ts";

/** Time after a sign-in in which a browser session may make sensitive changes, in milliseconds. */
const RECENT_MS = 60 * 60_000;

/**
 * Refuses requests whose token lacks the scope that the protocol states for the route. A route that the protocol does
 * not describe requires the scope `owner`. Comes after `requireAuth`.
 */
export function requireRouteScope(auth: Auth, now: () => number): MiddlewareHandler<Env> {
  const router = new TrieRouter<ApiRoute>();
  for (const route of API_ROUTES) router.add(route.method, route.path, route);
  return async (context, next) => {
    const { principal, session } = context.get("access");
    const { method, path } = context.req;
    const [matches] = router.match(method === "HEAD" ? "GET" : method, path);
    const routes = matches.map(([route]) => route);
    const scopes = routes.length === 0 ? ["owner" as const] : routes.map(({ access }) => access);
    // A path such as `/api/audit/verify` may match several routes. All of them must permit the request.
    for (const scope of scopes)
      if (scope !== "client" && scope !== "public" && !hasScope(principal, scope))
        return apiErrors.forbidden(context);
    const isSensitive = routes.some((route) => route.isSensitive);
    if (session !== undefined && isSensitive) {
      const signedInAt = await auth.browsers.getSignInTime(session);
      if (now() - signedInAt >= RECENT_MS) return apiErrors.signInAgain(context);
    }
    await next();
    return undefined;
  };
}
