import type { EmitResult, InboundEvent } from "@signalbox/channel";
import { listedCommands } from "./commands/table.ts";
import { atMost, createLifecycle, type Lifecycle } from "./compose/lifecycle.ts";
import { listen } from "./compose/listen.ts";
import { createSurroundings, type Surroundings } from "./compose/surroundings.ts";
import { createWay, type Way } from "./compose/way.ts";
import { messageOf } from "./errors.ts";
import type { Gateway, GatewayOptions } from "./gateway-options.ts";
import { keepToken, prepareWorkspace } from "./home/home.ts";
import { type OpenHome, openHome } from "./home/open-home.ts";
import { refuseGuessableToken, refuseOpenListening } from "./home/settings.ts";
import { ShutdownAbort } from "./path/shutdown.ts";
import { channelState } from "./resolve/accounts.ts";
import type { ResolvedConfig } from "./resolve/resolve-config.ts";
import { createService } from "./service/create-service.ts";
import { watchFaults } from "./upkeep/faults.ts";
import { createUpkeep, type Upkeep } from "./upkeep/upkeep.ts";

const LEASE_MS = 30_000;
/** How long the start waits for channel accounts to come up, in milliseconds. */
const ACCOUNTS_MS = 2_000;
/** How long runs that are told to stop may take to do so, in milliseconds. */
const ENDING_MS = 5_000;

/**
 * Starts a gateway on a home that nobody else holds. What was started is stopped again where the start fails.
 * @throws GatewayError for whatever an operator has to mend
 */
export async function startGateway(options: GatewayOptions, resolved: ResolvedConfig): Promise<Gateway> {
  const { loaded, env, home } = options;
  refuseOpenListening(loaded, env);
  refuseGuessableToken(resolved.secrets.guessableToken, loaded, env, home);
  const lifecycle = createLifecycle(options.logger, options.now ?? Date.now);
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
  const { home, loaded, token, logger, leaseMs = LEASE_MS, now = Date.now } = options;
  const { config } = loaded;
  const held = await openHome(options, leaseMs, lifecycle);
  const { store, lease, lock, redact, audit } = held;
  for (const { id, workspaceDir } of resolved.agents.all)
    if (workspaceDir === home.workspace(id)) prepareWorkspace(workspaceDir);
  const faults = watchFaults(now);
  const onFatal = (error: Error): void => {
    faults.note();
    options.onFatal(error);
  };
  const surroundings = await createSurroundings(options, resolved, held, onFatal);
  const { live, outcomes, metrics, router, delivery, toolbox } = surroundings;
  const way = await createWay(options, resolved, held, surroundings);
  const { lanes } = way;
  let state: "starting" | "ready" | "stopping" = "starting";
  let askedToStop = 0;
  lifecycle.started("faults", async () => {
    // Where a run may be why it ends, that start counts against its messages.
    if (!faults.since(askedToStop)) {
      await way
        .rest()
        .catch((error: unknown) => logger.warn({ err: messageOf(error) }, "this start counts as a crash"));
    }
    faults.close();
  });
  const upkeep = createUpkeep({
    ...{ store, lease, leaseMs, logger, now, retention: config.retention },
    busy: () => lanes.counts().running > 0,
    pruneMedia: surroundings.media.prune,
    wakeOutbox: delivery.wake,
    recover: way.recover,
    onLost: onFatal,
  });
  const service = createService({
    ...{ store, upkeep, lanes, live, outcomes, metrics, router, now, redact },
    ...{
      agents: resolved.agents,
      models: resolved.models,
      accounts: resolved.accounts,
      surfaces: resolved.surfaces,
      startedAt: now(),
    },
    approvals: toolbox.approvals,
    outboxInFlight: delivery.inFlight,
    wakeOutbox: delivery.wake,
    ready: () => state === "ready",
  });
  const http = await listen({
    ...{ loaded, service, logger, now },
    token: token.value,
    access: store.access,
    hooks: resolved.secrets.hooks,
    onRefused: metrics.refused,
    onSignIn: audit.signIn,
    defaultAgent: resolved.agents.defaultId,
    pageDir: options.consoleDir,
  });
  lifecycle.started("router", () => router.flush());
  lifecycle.started("upkeep", () => upkeep.stop());
  lifecycle.started("http", (left) => http.stop(Math.min(1_000, left())));
  lock.describe({ url: http.url, startedAt: now() });
  await router.warm();
  await open(options, resolved, { held, surroundings, way, upkeep, lifecycle });
  // A start that fails must not leave a token that nobody was shown.
  if (token.isNew) keepToken(home, token.value);
  state = "ready";
  metrics
    .load()
    .catch((error: unknown) => logger.error({ err: messageOf(error) }, "there are no metrics in this run"));
  return {
    url: http.url,
    demo: resolved.models.demoOnly,
    service,
    stop() {
      state = "stopping";
      if (askedToStop === 0) askedToStop = now();
      return lifecycle.stop(config.gateway.shutdownMs);
    },
  };
}

/** Lets messages in: what an earlier process left comes before anything new. */
async function open(
  options: GatewayOptions,
  { accounts }: ResolvedConfig,
  parts: {
    readonly held: OpenHome;
    readonly surroundings: Surroundings;
    readonly way: Way;
    readonly upkeep: Upkeep;
    readonly lifecycle: Lifecycle;
  },
): Promise<void> {
  const { held, surroundings, way, upkeep, lifecycle } = parts;
  const { delivery, hooks, typing, toolbox, supervisor, outcomes } = surroundings;
  const { lanes } = way;
  let closed = false;
  const take = async (event: InboundEvent): Promise<EmitResult> => (closed ? "rejected" : way.take(event));
  const emit = options.instrument?.emit(take) ?? take;
  const opened = Promise.withResolvers<void>();
  lifecycle.started("accounts", (left) => accounts.stop(Math.min(5_000, left())));
  lifecycle.started("typing", (left) => atMost(Math.min(1_000, left()), typing.idle()));
  lifecycle.started("hooks", () => hooks.idle());
  // Replies need their accounts; what arrives meanwhile is refused, and its platform delivers it again.
  lifecycle.started("delivery", (left) => delivery.stop(Math.min(5_000, left())));
  lifecycle.started("outcomes", () => outcomes.close());
  lifecycle.started("supervisor", (left) => atMost(left() + ENDING_MS, supervisor.idle()));
  lifecycle.started("lanes", async (left) => {
    closed = true;
    supervisor.close();
    upkeep.rest();
    const ended = lanes.close();
    toolbox.approvals.close(new ShutdownAbort("the gateway stops while somebody is asked"));
    await atMost(left(), ended);
    lanes.stopAll(new ShutdownAbort("the gateway is stopping"));
    // What has not come to a step by then is as after a crash: the next start goes on with it.
    await atMost(ENDING_MS, ended);
  });
  const starting = accounts.start({
    emit: (event) => opened.promise.then(() => emit(event)),
    state: (channel) => channelState(held.store.kv, channel),
    commands: listedCommands(),
  });
  // Replies of resumed runs need their accounts; one that is slow to connect holds nothing up.
  await atMost(ACCOUNTS_MS, starting);
  await way.recover();
  opened.resolve();
  delivery.wake();
  upkeep.start();
}
