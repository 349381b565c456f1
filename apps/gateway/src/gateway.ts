import { reasonOf } from "@signalbox/agent-core";
import { type EmitResult, getSpeakerKey, type InboundEvent } from "@signalbox/channel";
import { createChannelState } from "@signalbox/channel/accounts";
import { isLeaseHeld } from "@signalbox/delivery";
import {
  type AccountLeases,
  createAccountLeases,
  type Maintenance,
  refuseGuessableToken,
  refuseOpenListening,
  storeToken,
} from "@signalbox/home";
import {
  createLifecycle,
  type Lifecycle,
  retry,
  type ShutdownWatch,
  watchShutdown,
  withTimeout,
} from "@signalbox/lanes";
import type { Auth } from "@signalbox/server";
import { isStoreError } from "@signalbox/store";
import { createService } from "./api/create-service.ts";
import { readGauges } from "./api/gauges.ts";
import { openWork } from "./api/open-work.ts";
import { watchRevokedTokens } from "./api/revoked-tokens.ts";
import { createReloading } from "./apply-reload.ts";
import { accountCommands } from "./chat-commands/account-commands.ts";
import { preload } from "./configure/preload.ts";
import type { ResolvedConfig } from "./configure/resolve-config.ts";
import { type AccountStarter, createAccountStarter } from "./configure/start-accounts.ts";
import { createContext, type GatewayContext } from "./context.ts";
import type { Gateway, GatewayOptions } from "./gateway-options.ts";
import { createGatewayAuth, listen } from "./listen.ts";
import { getMachineTimeZone, TIME_ZONE_REMEDY } from "./machine-time-zone.ts";
import { createMaintenance } from "./maintenance/create-maintenance.ts";
import { createNeighbors, type Neighbors } from "./maintenance/neighbors.ts";
import { getEvents } from "./messages/queued-message.ts";
import { endDropped } from "./pipeline/4-queue/dropped.ts";
import { emit, emitTrigger, recover, release } from "./pipeline/pipeline.ts";
import { processBatch } from "./pipeline/process-batch.ts";
import { ShutdownAbort } from "./shutdown.ts";
import type { EmitTrigger } from "./triggers/trigger.ts";

/** Delay before the lease of an account that another gateway holds is requested again, in milliseconds. */
const LEASE_RETRY_MS = 500;
/** Time limit for stopping running turns, in milliseconds. */
const ENDING_MS = 5_000;

/**
 * Starts a gateway on a home that no other process holds. If the start fails, everything that was started is stopped
 * again.
 *
 * @throws GatewayError for a problem that an operator must fix
 */
export async function startGateway(options: GatewayOptions, resolved: ResolvedConfig): Promise<Gateway> {
  const { loaded, env, home } = options;
  refuseOpenListening(loaded, env);
  refuseGuessableToken(resolved.secrets.guessableToken, loaded, env, home);
  const onFailure = (part: string, error: unknown): void =>
    options.logger.warn({ part, err: reasonOf(error) }, "a part of the gateway did not stop cleanly");
  const lifecycle = createLifecycle(onFailure, options.now);
  const timeZone = getMachineTimeZone();
  if (timeZone.problem !== undefined) options.logger.warn({ remedy: TIME_ZONE_REMEDY }, timeZone.problem);
  try {
    return await start(options, resolved, lifecycle);
  } catch (error) {
    await lifecycle.stop(0);
    throw error;
  }
}

async function start(
  options: GatewayOptions,
  resolved: ResolvedConfig,
  lifecycle: Lifecycle,
): Promise<Gateway> {
  const { home, token } = options;
  const first = { loaded: options.loaded, resolved };
  const shutdown = watchShutdown(options.onFatal, options.now ?? Date.now);
  const fail = createFail(shutdown, () => {
    ctx.leaseTerm.end();
    ctx.nodeReports.count("fencedWrites");
  });
  const ctx = await createContext(options, first, lifecycle, {
    processBatch,
    onDropped: endDropped,
    onFatal: (error) => fail(error, isFenced(error)),
  });
  lifecycle.started("memory", () => ctx.memories.close());
  lifecycle.started("mcp", () => ctx.mcp.close());
  lifecycle.started("browsers", () => ctx.browsers.close());
  lifecycle.started("seats", () => ctx.sharedSeats?.release());
  lifecycle.started("commands", () => ctx.toolbox.endCommands());
  const onException = (): void => ctx.crashBlame.noteCrash();
  process.on("uncaughtExceptionMonitor", onException);
  lifecycle.started("faults", async () => {
    if (shutdown.isCausedByError()) ctx.crashBlame.noteCrash();
    process.off("uncaughtExceptionMonitor", onException);
    await releaseOrCount(ctx, shutdown);
  });
  const accountLeases = createAccountLeases({
    held: ctx.heldLeases,
    isShared: (channel) => ctx.accounts.definitions.some(({ id }) => id === channel),
  });
  const onLost = (error: Error): void => fail(error, true);
  const maintenance = createMaintenance(ctx, onLost);
  const neighbors = createNeighbors(ctx, onLost);
  const reloading = createReloading(ctx, first);
  let isReady = false;
  const service = createService(ctx, {
    maintenance,
    configuration: { state: () => reloading.state, reload: (read) => reloading.reload(read) },
    isReady: () => isReady && !shutdown.isRequested(),
  });
  lifecycle.started("telemetry", () => withTimeout(ENDING_MS, ctx.otlp.stop()));
  await ctx.otlp.start(async () => ctx.metrics.collect(await readGauges(ctx)));
  const auth = createGatewayAuth(ctx);
  const http = await listen(ctx, service, auth);
  lifecycle.started("router", () => ctx.router().flush());
  lifecycle.started("revoked tokens", endWithTokens(ctx, auth));
  lifecycle.started("maintenance", () => maintenance.stop());
  lifecycle.started("http", (left) => http.stop(Math.min(1_000, left())));
  ctx.publicAddress.listening(http.url);
  ctx.lock.describe({ url: http.url, startedAt: ctx.now() });
  await ctx.router().warm();
  const bringUp = await openIngress(ctx, { maintenance, neighbors, accountLeases }, lifecycle);
  // A failed start must not store a token that was never shown.
  if (token.isNew) storeToken(home, token.value);
  isReady = true;
  return {
    connected: bringUp.rest(loadLater(ctx, lifecycle)),
    url: http.url,
    demo: ctx.config.current().models.demo,
    service,
    reload: (read) => reloading.reload(read),
    stop() {
      shutdown.request();
      return lifecycle.stop(ctx.config.current().settings.gateway.shutdownMs);
    },
  };
}

/** Returns the function that ends the gateway after a fatal error. Calls `onFenced` for the first loss of a lease. */
function createFail(
  shutdown: ShutdownWatch,
  onFenced: () => void,
): (error: Error, isFencedOff: boolean) => void {
  let wasFenced = false;
  return (error, isFencedOff) => {
    if (isFencedOff && !wasFenced) onFenced();
    wasFenced ||= isFencedOff;
    shutdown.fail(error);
  };
}

function isFenced(error: Error): boolean {
  return isStoreError(error) && error.code === "fenced";
}

/**
 * Imports modules in the background that the first message needs. Returns a signal that is aborted when the gateway
 * stops.
 */
function loadLater(ctx: GatewayContext, lifecycle: Lifecycle): AbortSignal {
  const { config, metrics, logger } = ctx;
  const { agents, models, settings } = config.current();
  metrics
    .load()
    .catch((error: unknown) =>
      logger.error({ err: reasonOf(error) }, "metrics are unavailable until the next start"),
    );
  const stopping = new AbortController();
  lifecycle.started("loading", () => stopping.abort());
  const memories = settings.memory.enabled ? ctx.memories : undefined;
  void preload({ agents, models, memories, logger }, stopping.signal);
  return stopping.signal;
}

/** Starts the accounts and the triggers. Work from an earlier process is resumed before new work. */
async function openIngress(
  ctx: GatewayContext,
  {
    maintenance,
    neighbors,
    accountLeases,
  }: {
    readonly maintenance: Maintenance;
    readonly neighbors: Neighbors;
    readonly accountLeases: AccountLeases;
  },
  lifecycle: Lifecycle,
): Promise<AccountStarter> {
  const { options, store, accounts, delivery, hooks, typing, supervisor, outcomes, toolbox, lanes } = ctx;
  const { scheduled, heartbeats, subAgents, otherSessions, leaseTerm } = ctx;
  let closed = false;
  const take = async (event: InboundEvent): Promise<EmitResult> => (closed ? "rejected" : emit(ctx, event));
  const emitEvent = options.instrument?.emit(take) ?? take;
  const recovered = Promise.withResolvers<void>();
  lifecycle.started("accounts", (left) => accounts.stop(Math.min(5_000, left())));
  lifecycle.started("typing", (left) => withTimeout(Math.min(1_000, left()), typing.idle()));
  lifecycle.started("hooks", () => hooks.idle());
  // Replies need their accounts. New messages are rejected until then, and their platforms deliver them again.
  lifecycle.started("delivery", (left) => delivery.stop(Math.min(5_000, left())));
  lifecycle.started("outcomes", () => outcomes.close());
  lifecycle.started("supervisor", (left) => withTimeout(left() + ENDING_MS, supervisor.idle()));
  lifecycle.started("lanes", (left) => {
    closed = true;
    maintenance.rest();
    return endRuns(ctx, left());
  });
  lifecycle.started("schedules", () => scheduled.stop());
  lifecycle.started("heartbeats", () => heartbeats.stop());
  lifecycle.started("sub-agents", () => subAgents.stop());
  const services = {
    emit: (event: InboundEvent) => recovered.promise.then(() => emitEvent(event)),
    acquireLease: (channel: string, account: string) => accountLeases.acquire(channel, account),
    ...(store.isShared
      ? { leaseRetryMs: LEASE_RETRY_MS, isShared: true, mayRequest: () => isLeaseHeld(leaseTerm.getMsLeft) }
      : {}),
    state: (channel: string) => createChannelState(store.kv, channel),
    commands: accountCommands(ctx),
  };
  const bringUp = createAccountStarter({ accounts, services, left: () => openWork(store) });
  await bringUp.first();
  void toolbox.endQuestions(ctx.expiredApprovals);
  await retry(() => recover(ctx));
  recovered.resolve();
  const trigger: EmitTrigger = async (event, terms) =>
    closed ? { outcome: "rejected" } : emitTrigger(ctx, event, terms);
  otherSessions.start(trigger);
  await scheduled.start(trigger, (sessionKey, ids) =>
    lanes.waiting(sessionKey).some((item) => getEvents(item).some(({ eventId }) => eventId.startsWith(ids))),
  );
  await subAgents.start({ trigger, endCommands: (sessionKey) => toolbox.endCommands(sessionKey) });
  await heartbeats.start({ trigger, busy: (sessionKey) => lanes.busy(sessionKey) });
  delivery.wake();
  maintenance.start();
  lifecycle.started("neighbors", () => neighbors.stop());
  await neighbors.start();
  return bringUp;
}

/** Waits up to the given number of milliseconds for runs to end, and then stops them at their next committed step. */
async function endRuns({ supervisor, toolbox, lanes }: GatewayContext, ms: number): Promise<void> {
  supervisor.close();
  const ended = lanes.close();
  toolbox.approvals.close(new ShutdownAbort("the gateway stops while an approval is pending"));
  await withTimeout(ms, ended);
  lanes.stopAll(new ShutdownAbort("the gateway is stopping"));
  // If a run reaches no step within this time, the next start resumes it, as after a crash.
  await withTimeout(ENDING_MS, ended);
}

/**
 * Stops everything that was started with a token when the token is revoked. Returns a function that stops the watch.
 */
function endWithTokens(
  { store, isOwnChannel, toolbox, lanes, logger }: GatewayContext,
  auth: Auth,
): () => void {
  return watchRevokedTokens({
    async tokens() {
      // A person whose groups have no role any more has no token afterwards.
      await auth.applySettings();
      return store.access.tokens.list();
    },
    isAuthenticated: isOwnChannel,
    async end(isRevoked) {
      lanes.stopWhere(
        (item) => getEvents(item).some((event) => isRevoked(getSpeakerKey(event))),
        new Error("the token of the request was revoked"),
      );
      await toolbox.endCommandsStartedBy(isRevoked);
    },
    logger,
  });
}

/**
 * Releases unfinished work, unless a run may have caused the stop. In that case, a crash is counted for its messages.
 */
async function releaseOrCount(ctx: GatewayContext, shutdown: ShutdownWatch): Promise<void> {
  if (!shutdown.isCausedByError()) {
    await release(ctx).catch((error: unknown) =>
      ctx.logger.warn(
        { err: reasonOf(error) },
        "a clean stop could not be recorded, so it counts as a crash",
      ),
    );
  }
  shutdown.close();
}
