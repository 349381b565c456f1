import {
  createBrowserHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { ChatPage } from "./pages/chat/chat-page.tsx";
import { NewChat } from "./pages/chat/new-chat.tsx";
import { wantedUsage } from "./pages/usage/wanted.ts";
import { BrokenPage, LoadingPage } from "./parts/page.tsx";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({ component: Shell, notFoundComponent: NewChat });

const newChat = createRoute({ getParentRoute: () => root, path: "/", component: NewChat });

/** The longest id that an address may name. */
const LONGEST = 600;

const chat = createRoute({
  getParentRoute: () => root,
  path: "/c/$conversation",
  beforeLoad: ({ params }) => {
    if (params.conversation.length > LONGEST) throw redirect({ to: "/", replace: true });
  },
  component: ChatPage,
});

/** What owners see of the gateway besides; each page is loaded when it is opened. */
const owners = [
  createRoute({
    getParentRoute: () => root,
    path: "/sessions",
    component: lazyRouteComponent(() => import("./pages/sessions/sessions-page.tsx"), "SessionsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/messages/{-$session}",
    component: lazyRouteComponent(() => import("./pages/messages/messages-page.tsx"), "MessagesPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/message/$id",
    component: lazyRouteComponent(() => import("./pages/message/message-page.tsx"), "MessagePage"),
    remountDeps: ({ params }) => params,
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/approvals",
    component: lazyRouteComponent(() => import("./pages/approvals/approvals-page.tsx"), "ApprovalsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/people",
    component: lazyRouteComponent(() => import("./pages/people/people-page.tsx"), "PeoplePage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/channels",
    component: lazyRouteComponent(() => import("./pages/channels/channels-page.tsx"), "ChannelsPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/activity",
    component: lazyRouteComponent(() => import("./pages/activity/activity-page.tsx"), "ActivityPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/usage",
    validateSearch: wantedUsage,
    component: lazyRouteComponent(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
  }),
] as const;

/** Of an address that was typed: the router has no place for it among those that it went to. */
const NEVER_SEEN = { __TSR_index: 0 };

/**
 * What is behind the `#` of the address names the page, and nothing else of it is looked at: the gateway serves one
 * page, whatever it was asked for.
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
