import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getNodeId, locateHome } from "@signalbox/home";
import { stringify } from "yaml";
import { type GatewayChild, startGateway } from "../crash/child.ts";
import { type NetworkProxy, startProxy } from "./proxy.ts";

/** A gateway of the cluster: its home, its connection to the database, and its process, if one runs. */
export interface Node {
  readonly name: string;
  readonly home: string;
  readonly proxy: NetworkProxy;
  /** The holder of its leases. Known once it has started. */
  readonly id: () => string;
  readonly child: () => GatewayChild | undefined;
  /** The address at which it listens. A suspended process still has one. */
  readonly url: () => string | undefined;
  /**
   * Starts the process and waits until it listens.
   *
   * @param onSpawn called before it listens
   */
  start(onSpawn: (child: GatewayChild) => void): Promise<void>;
}

export interface NodeOptions {
  readonly name: string;
  readonly home: string;
  /** Port of the database server. */
  readonly target: number;
  /** The configuration, for a database behind this port. */
  readonly configure: (port: number) => unknown;
  readonly main: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function createNode({ name, home, target, configure, main, env }: NodeOptions): Promise<Node> {
  const proxy = await startProxy(target);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "signalbox.yaml"), stringify(configure(proxy.port)));
  let child: GatewayChild | undefined;
  let url: string | undefined;
  return {
    name,
    home,
    proxy,
    id: () => getNodeId(locateHome(home, {})),
    child: () => child,
    url: () => url,
    async start(onSpawn) {
      const started = startGateway(home, env, { main });
      child = started;
      onSpawn(started);
      void started.exited.then(() => {
        if (child !== started) return;
        child = undefined;
        url = undefined;
      });
      url = await started.listening;
    },
  };
}
