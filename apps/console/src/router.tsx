import {
  createBrowserHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  redirect,
} from "@tanstack/react-router";
import { readAgentSearch } from "./pages/agent/search.ts";
import { NewChat } from "./pages/chat/new-chat.tsx";
import { readConfigurationSearch } from "./pages/configuration/search.ts";
import { readMessagesSearch } from "./pages/messages/search.ts";
import { readUsageSearch } from "./pages/usage/search.ts";
import { BrokenPage, LoadingPage } from "./parts/page.tsx";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: lazyRouteComponent(() => import("./parts/unknown-page.tsx"), "UnknownPage"),
});

const newChat = createRoute({ getParentRoute: () => root, path: "/", component: NewChat });

/** Maximum length of an id in the URL. */
const MAX_ID_LENGTH = 600;

const chat = createRoute({
  getParentRoute: () => root,
  path: "/c/$conversation",
  beforeLoad: ({ params }) => {
    if (params.conversation.length > MAX_ID_LENGTH) throw redirect({ to: "/", replace: true });
  },
  component: lazyRouteComponent(() => import("./pages/chat/chat-page.tsx"), "ChatPage"),
});

function page<Path extends string>(path: Path, component: RouteComponent) {
  return createRoute({ getParentRoute: () => root, path, component });
}

/** Pages for owners. Each is loaded when it is opened. `pages.ts` lists those of the navigation. */
const pages = [
  page(
    "/activity",
    lazyRouteComponent(() => import("./pages/activity/activity-page.tsx"), "ActivityPage"),
  ),
  createRoute({
    getParentRoute: () => root,
    path: "/messages",
    validateSearch: readMessagesSearch,
    component: lazyRouteComponent(() => import("./pages/messages/messages-page.tsx"), "MessagesPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/message/$id",
    component: lazyRouteComponent(() => import("./pages/message/message-page.tsx"), "MessagePage"),
    remountDeps: ({ params }) => params,
  }),
  page(
    "/sessions",
    lazyRouteComponent(() => import("./pages/sessions/sessions-page.tsx"), "SessionsPage"),
  ),
  createRoute({
    getParentRoute: () => root,
    path: "/session/$key",
    component: lazyRouteComponent(() => import("./pages/session/session-page.tsx"), "SessionPage"),
    remountDeps: ({ params }) => params,
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/usage",
    validateSearch: readUsageSearch,
    component: lazyRouteComponent(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
  }),
  page(
    "/people",
    lazyRouteComponent(() => import("./pages/people/people-page.tsx"), "PeoplePage"),
  ),
  page(
    "/approvals",
    lazyRouteComponent(() => import("./pages/approvals/approvals-page.tsx"), "ApprovalsPage"),
  ),
  page(
    "/setup",
    lazyRouteComponent(() => import("./pages/setup/setup-page.tsx"), "SetupPage"),
  ),
  page(
    "/channels",
    lazyRouteComponent(() => import("./pages/channels/channels-page.tsx"), "ChannelsPage"),
  ),
  page(
    "/agents",
    lazyRouteComponent(() => import("./pages/agents/agents-page.tsx"), "AgentsPage"),
  ),
  page(
    "/models",
    lazyRouteComponent(() => import("./pages/models/models-page.tsx"), "ModelsPage"),
  ),
  page(
    "/skills",
    lazyRouteComponent(() => import("./pages/skills/skills-page.tsx"), "SkillsPage"),
  ),
  page(
    "/memory",
    lazyRouteComponent(() => import("./pages/memory/memory-page.tsx"), "MemoryPage"),
  ),
  page(
    "/mcp",
    lazyRouteComponent(() => import("./pages/mcp/mcp-page.tsx"), "McpPage"),
  ),
  page(
    "/schedules",
    lazyRouteComponent(() => import("./pages/schedules/schedules-page.tsx"), "SchedulesPage"),
  ),
  createRoute({
    getParentRoute: () => root,
    path: "/configuration",
    validateSearch: readConfigurationSearch,
    component: lazyRouteComponent(
      () => import("./pages/configuration/configuration-page.tsx"),
      "ConfigurationPage",
    ),
  }),
  page(
    "/outbox",
    lazyRouteComponent(() => import("./pages/outbox/outbox-page.tsx"), "OutboxPage"),
  ),
  page(
    "/health",
    lazyRouteComponent(() => import("./pages/health/health-page.tsx"), "HealthPage"),
  ),
  page(
    "/logs",
    lazyRouteComponent(() => import("./pages/logs/logs-page.tsx"), "LogsPage"),
  ),
  page(
    "/audit",
    lazyRouteComponent(() => import("./pages/audit/audit-page.tsx"), "AuditPage"),
  ),
  page(
    "/tokens",
    lazyRouteComponent(() => import("./pages/tokens/tokens-page.tsx"), "TokensPage"),
  ),
  createRoute({
    getParentRoute: () => root,
    path: "/agent/$id",
    validateSearch: readAgentSearch,
    component: lazyRouteComponent(() => import("./pages/agent/agent-page.tsx"), "AgentPage"),
    remountDeps: ({ params }) => params,
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
  routeTree: root.addChildren([newChat, chat, ...pages]),
  defaultPendingComponent: LoadingPage,
  defaultErrorComponent: BrokenPage,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
