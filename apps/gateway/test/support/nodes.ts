import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { gatewayToken, getNodeId, locateHome, openVault, prepareHome, readConfig } from "@signalbox/home";
import { createLogger } from "@signalbox/telemetry/logger";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { execSandbox } from "../../src/configure/exec-sandbox.ts";
import { resolveConfig } from "../../src/configure/resolve-config.ts";
import { startGateway } from "../../src/gateway.ts";
import type { Gateway } from "../../src/gateway-options.ts";
import type { GatewayStore } from "../../src/store.ts";
import type { World } from "./harness.ts";

/** A gateway that shares the store of a world with others. */
export interface Node {
  readonly id: string;
  readonly gateway: Gateway;
  readonly fatal: readonly Error[];
  readonly log: () => string;
  /** Posts an event to the Feishu account `main` of this gateway. */
  post(event: unknown): Promise<Response>;
  /** Makes the gateway behave like a suspended process: its calls to the store wait for `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Duration of leases, in milliseconds. Longer than a busy machine keeps a process from renewing them. */
export const LEASE_MS = 10_000;

/**
 * Starts a gateway with its own home on the database of the world's home, or on the PostgreSQL database of its
 * configuration. An SQLite store claims to be shared, and its hints reach nobody, so that gateways find work by
 * polling.
 */
export async function startNode(
  world: World,
  name: string,
  config: Readonly<Record<string, unknown>>,
): Promise<Node> {
  const home = { ...locateHome(join(world.dir, name), {}), databaseFile: world.home.databaseFile };
  prepareHome(home);
  writeFileSync(home.configFile, stringify(config));
  const { env } = world;
  const loaded = readConfig(home, env);
  let logged = "";
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk);
      done();
    },
  });
  const token = gatewayToken(loaded, home, env);
  const vault = openVault(loaded, env, token.value);
  const logger = createLogger("trace", vault.redact, sink);
  const fatal: Error[] = [];
  let paused: PromiseWithResolvers<void> | undefined;
  const resume = (): void => {
    paused?.resolve();
    paused = undefined;
  };
  const options = {
    home,
    loaded,
    token,
    logger,
    vault,
    env,
    consoleDir: world.dir,
    execSandbox,
    leaseMs: LEASE_MS,
    onFatal: (error: Error) => void fatal.push(error),
    instrument: {
      store: (store: GatewayStore) => asShared(store, () => paused?.promise),
      storeFaults: () => {},
      account: <T>(account: T) => account,
      toolbox: <T>(toolbox: T) => toolbox,
      emit: <T>(emit: T) => emit,
    },
  };
  const gateway = await startGateway(options, await resolveConfig(options));
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    resume();
    await gateway.stop();
  };
  onTestFinished(stop);
  await gateway.connected;
  return {
    id: getNodeId(home),
    gateway,
    fatal,
    log: () => logged,
    post: (event) => world.feishu.postEvent(`${gateway.url}/channels/feishu/main/events`, event),
    pause() {
      paused ??= Promise.withResolvers();
    },
    resume,
    stop,
  };
}

/** @param getPause returns a promise that resolves when calls may go on, if they may not */
function asShared(store: GatewayStore, getPause: () => Promise<void> | undefined): GatewayStore {
  const wrap = <T extends object>(part: T): T => {
    const wrapped = Object.entries(part).map(([name, value]) => {
      if (typeof value !== "function") return [name, value];
      return [name, (...args: unknown[]) => getPause()?.then(() => value(...args)) ?? value(...args)];
    });
    return Object.assign(Object.create(Object.getPrototypeOf(part)), Object.fromEntries(wrapped));
  };
  const hints = store.isShared ? store.hints : { send() {}, listen: () => () => {} };
  return {
    ...store,
    isShared: true,
    hints,
    inbox: wrap(store.inbox),
    runs: wrap(store.runs),
    outbox: wrap(store.outbox),
    leases: wrap(store.leases),
    kv: wrap(store.kv),
  };
}
