import {
  createBrowserHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  redirect,
} from "@tanstack/react-router";
import { ChatPage } from "./pages/chat/chat-page.tsx";
import { NewChat } from "./pages/chat/new-chat.tsx";
import { wantedUsage } from "./pages/usage/wanted.ts";
import { BrokenPage, LoadingPage } from "./parts/page.tsx";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NewChat });

const newChat = createRoute({ getParentRoute: () => root, path: "/", component: NewChat });

/** Maximum length of an id in the URL. */
const LONGEST = 600;

const chat = createRoute({
  getParentRoute: () => root,
  path: "/c/$conversation",
  beforeLoad: ({ params }) => {
    if (params.conversation.length > LONGEST) throw redirect({ to: "/", replace: true });
  },
  component: ChatPage,
});

function ownersPage<Path extends string>(path: Path, component: RouteComponent) {
  return createRoute({ getParentRoute: () => root, path, component });
}

/** Pages for owners. Each is loaded when it is opened. */
const owners = [
  ownersPage(
    "/sessions",
    lazyRouteComponent(() => import("./pages/sessions/sessions-page.tsx"), "SessionsPage"),
  ),
  ownersPage(
    "/messages/{-$session}",
    lazyRouteComponent(() => import("./pages/messages/messages-page.tsx"), "MessagesPage"),
  ),
  ownersPage(
    "/approvals",
    lazyRouteComponent(() => import("./pages/approvals/approvals-page.tsx"), "ApprovalsPage"),
  ),
  ownersPage(
    "/people",
    lazyRouteComponent(() => import("./pages/people/people-page.tsx"), "PeoplePage"),
  ),
  ownersPage(
    "/channels",
    lazyRouteComponent(() => import("./pages/channels/channels-page.tsx"), "ChannelsPage"),
  ),
  ownersPage(
    "/activity",
    lazyRouteComponent(() => import("./pages/activity/activity-page.tsx"), "ActivityPage"),
  ),
  createRoute({
    getParentRoute: () => root,
    path: "/message/$id",
    component: lazyRouteComponent(() => import("./pages/message/message-page.tsx"), "MessagePage"),
    remountDeps: ({ params }) => params,
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/usage",
    validateSearch: wantedUsage,
    component: lazyRouteComponent(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
  }),
] as const;

/** Fallback for history entries that the router did not create, such as a typed URL. */
const NEVER_SEEN = { __TSR_index: 0 };

/**
 * The fragment of the URL names the page, because the gateway serves the same file for every visit. The path and the
 * query are ignored.
 */
const history = createBrowserHistory({
  parseLocation: () => {
    const inside = URL.parse(location.hash.slice(1), location.origin) ?? new URL(location.origin);
    const { pathname, search, hash } = inside;
    return {
      href: pathname + search + hash,
      pathname,
      search,
      hash,
      state: window.history.state ?? NEVER_SEEN,
    };
  },
  createHref: (href) => `#${href}`,
});

export const router = createRouter({
  history,
  routeTree: root.addChildren([newChat, chat, ...owners]),
  defaultPendingComponent: LoadingPage,
  defaultErrorComponent: BrokenPage,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
