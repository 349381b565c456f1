import { reasonOf } from "@signalbox/agent-core";
import { type EmitResult, type InboundEvent, speakerOf } from "@signalbox/channel";
import { channelState } from "@signalbox/channel/accounts";
import {
  type AccountLeases,
  keepToken,
  refuseGuessableToken,
  refuseOpenListening,
  type Upkeep,
} from "@signalbox/home";
import {
  createLifecycle,
  type Lifecycle,
  retry,
  type ShutdownWatch,
  watchShutdown,
  withTimeout,
} from "@signalbox/lanes";
import { openWork } from "./api/open-work.ts";
import { watchRevokedTokens } from "./api/revoked-tokens.ts";
import { openBase } from "./compose/base.ts";
import { listen } from "./compose/listen.ts";
import { createReloading } from "./compose/reload.ts";
import { createGatewayService } from "./compose/service.ts";
import { createSurroundings, type Parts, type Surroundings } from "./compose/surroundings.ts";
import { createGatewayUpkeep, leasesOfAccounts } from "./compose/upkeep.ts";
import { createWay, type Way } from "./compose/way.ts";
import { accountCommands } from "./configure/account-commands.ts";
import { type BringUp, createBringUp } from "./configure/bring-up.ts";
import { loadAhead } from "./configure/load-ahead.ts";
import type { ResolvedConfig } from "./configure/resolve-config.ts";
import type { Gateway, GatewayOptions } from "./gateway-options.ts";
import { eventsOf } from "./pipeline/4-queue/message.ts";
import { ShutdownAbort } from "./shutdown.ts";
import type { WakeAgent } from "./triggers/wake.ts";

/** How long runs may take to stop, in milliseconds. */
const ENDING_MS = 5_000;

/**
 * Starts a gateway on a home that no other process holds. If the start fails, what was started is stopped again.
 * @throws GatewayError for a problem that an operator has to fix
 */
export async function startGateway(options: GatewayOptions, resolved: ResolvedConfig): Promise<Gateway> {
  const { loaded, env, home } = options;
  refuseOpenListening(loaded, env);
  refuseGuessableToken(resolved.secrets.guessableToken, loaded, env, home);
  const onFailure = (part: string, error: unknown): void =>
    options.logger.warn({ part, err: reasonOf(error) }, "a part of the gateway did not stop cleanly");
  const lifecycle = createLifecycle(onFailure, options.now);
  try {
    return await start(options, resolved, lifecycle);
  } catch (error) {
    await lifecycle.stop(0);
    throw error;
  }
}

async function start(
  options: GatewayOptions,
  resolvedAtStart: ResolvedConfig,
  lifecycle: Lifecycle,
): Promise<Gateway> {
  const { home, token, logger } = options;
  const first = { loaded: options.loaded, resolved: resolvedAtStart };
  const base = await openBase(options, first, lifecycle);
  const { opened, configuration, now } = base;
  const shutdown = watchShutdown(options.onFatal, now);
  const surroundings = await createSurroundings(base, shutdown.fail);
  lifecycle.started("memory", () => surroundings.memories.close());
  lifecycle.started("mcp", () => surroundings.mcp.close());
  lifecycle.started("commands", () => surroundings.toolbox.endCommands());
  const parts: Parts = { ...base, surroundings };
  const way = createWay(parts);
  lifecycle.started("faults", () => restOrCount(way, shutdown, logger));
  const accountLeases = leasesOfAccounts(parts);
  const upkeep = createGatewayUpkeep(parts, way, accountLeases, shutdown.fail);
  let isReady = false;
  const reloading = createReloading(parts, first);
  const ready = (): boolean => isReady && !shutdown.isRequested();
  const service = createGatewayService(parts, way, { upkeep, reloading, ready });
  const http = await listen(parts, service);
  lifecycle.started("router", () => surroundings.router.flush());
  lifecycle.started("revoked tokens", endWithTokens(parts, way));
  lifecycle.started("upkeep", () => upkeep.stop());
  lifecycle.started("http", (left) => http.stop(Math.min(1_000, left())));
  opened.lock.describe({ url: http.url, startedAt: now() });
  await surroundings.router.warm();
  const bringUp = await letIn(parts, way, { upkeep, accountLeases }, lifecycle);
  // A start that fails must not leave a token that nobody was shown.
  if (token.isNew) keepToken(home, token.value);
  isReady = true;
  return {
    connected: bringUp.rest(loadLater(parts, lifecycle)),
    url: http.url,
    demo: base.resolved.models.demo,
    service,
    reload: (read) => reloading.reload(read),
    stop() {
      shutdown.request();
      return lifecycle.stop(configuration.config().gateway.shutdownMs);
    },
  };
}

/** Loads in the background what the first message needs. Returns a signal that fires when the gateway stops. */
function loadLater(
  { options: { logger }, resolved, surroundings, configuration: { config } }: Parts,
  lifecycle: Lifecycle,
): AbortSignal {
  const { agents, models, accounts } = resolved;
  const { metrics } = surroundings;
  metrics
    .load()
    .catch((error: unknown) =>
      logger.error({ err: reasonOf(error) }, "metrics are unavailable until the next start"),
    );
  const stopping = new AbortController();
  lifecycle.started("loading", () => stopping.abort());
  const memories = config().memory.enabled ? surroundings.memories : undefined;
  void loadAhead({ agents, models, accounts, memories, logger }, stopping.signal);
  return stopping.signal;
}

/** Lets messages in: what an earlier process left comes before anything new. */
async function letIn(
  parts: Parts,
  way: Way,
  { upkeep, accountLeases }: { readonly upkeep: Upkeep; readonly accountLeases: AccountLeases },
  lifecycle: Lifecycle,
): Promise<BringUp> {
  const { options, opened, surroundings, configuration } = parts;
  const { accounts, agents } = parts.resolved;
  const { delivery, hooks, typing, supervisor, outcomes, toolbox } = surroundings;
  const { scheduledWakes, heartbeats, subAgents, otherSessions } = surroundings;
  let closed = false;
  const take = async (event: InboundEvent): Promise<EmitResult> => (closed ? "rejected" : way.take(event));
  const emit = options.instrument?.emit(take) ?? take;
  const recovered = Promise.withResolvers<void>();
  lifecycle.started("accounts", (left) => accounts.stop(Math.min(5_000, left())));
  lifecycle.started("typing", (left) => withTimeout(Math.min(1_000, left()), typing.idle()));
  lifecycle.started("hooks", () => hooks.idle());
  // Replies need their accounts; what arrives meanwhile is refused, and its platform delivers it again.
  lifecycle.started("delivery", (left) => delivery.stop(Math.min(5_000, left())));
  lifecycle.started("outcomes", () => outcomes.close());
  lifecycle.started("supervisor", (left) => withTimeout(left() + ENDING_MS, supervisor.idle()));
  lifecycle.started("lanes", (left) => {
    closed = true;
    upkeep.rest();
    return endRuns(surroundings, way, left());
  });
  lifecycle.started("schedules", () => scheduledWakes.stop());
  lifecycle.started("heartbeats", () => heartbeats.stop());
  lifecycle.started("sub-agents", () => subAgents.stop());
  const services = {
    emit: (event: InboundEvent) => recovered.promise.then(() => emit(event)),
    right: (channel: string, account: string) => accountLeases.right(channel, account),
    state: (channel: string) => channelState(opened.store.kv, channel),
    commands: accountCommands({ config: configuration.config, agents, skillsOf: way.skillCommands }),
  };
  const bringUp = createBringUp({ accounts, services, left: () => openWork(opened.store) });
  await bringUp.first();
  void toolbox.endQuestions(surroundings.leftQuestions);
  await retry(() => way.recover());
  recovered.resolve();
  const wake: WakeAgent = async (event, terms) => (closed ? { outcome: "rejected" } : way.wake(event, terms));
  otherSessions.start(wake);
  await scheduledWakes.start(wake, (sessionKey, ids) =>
    way.lanes
      .waiting(sessionKey)
      .some((item) => eventsOf(item).some(({ eventId }) => eventId.startsWith(ids))),
  );
  await subAgents.start({ wake, endCommands: (sessionKey) => toolbox.endCommands(sessionKey) });
  await heartbeats.start({ wake, busy: (sessionKey) => way.lanes.busy(sessionKey) });
  delivery.wake();
  upkeep.start();
  return bringUp;
}

/** Gives runs this many milliseconds to end, and then lets them reach a committed step. */
async function endRuns({ supervisor, toolbox }: Surroundings, { lanes }: Way, ms: number): Promise<void> {
  supervisor.close();
  const ended = lanes.close();
  toolbox.approvals.close(new ShutdownAbort("the gateway stops while somebody is asked"));
  await withTimeout(ms, ended);
  lanes.stopAll(new ShutdownAbort("the gateway is stopping"));
  // What has not come to a step by then is as after a crash: the next start goes on with it.
  await withTimeout(ENDING_MS, ended);
}

/** Stops everything of a revoked token's holder. Returns a function that ends the watch. */
function endWithTokens(
  { opened: { store }, resolved, surroundings: { toolbox }, options: { logger } }: Parts,
  { lanes }: Way,
): () => void {
  return watchRevokedTokens({
    tokens: () => store.access.tokens.list(),
    isAuthenticated: resolved.isOwnChannel,
    async end(isRevoked) {
      lanes.stopWhere(
        (item) => eventsOf(item).some((event) => isRevoked(speakerOf(event))),
        new Error("the token that it was asked with was revoked"),
      );
      await toolbox.endCommandsOf(isRevoked);
    },
    logger,
  });
}

/** Where a run may be why this process ends, the start counts against its messages. */
async function restOrCount(
  way: Way,
  shutdown: ShutdownWatch,
  logger: GatewayOptions["logger"],
): Promise<void> {
  if (!shutdown.isCausedByError()) {
    await way
      .rest()
      .catch((error: unknown) =>
        logger.warn({ err: reasonOf(error) }, "a clean stop could not be recorded, so it counts as a crash"),
      );
  }
  shutdown.close();
}
