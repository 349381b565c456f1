import { createHash } from "node:crypto";
import { reasonOf } from "@signalbox/agent-core";
import { type Config, withoutSecrets } from "@signalbox/config";
import type { HomeLogger } from "@signalbox/home";
import type { NodeEvent, Store } from "@signalbox/store";
import type { LiveConfig } from "../configure/live-config.ts";
import { VERSION } from "../version.ts";

/** Interval of the reports, in milliseconds, if other gateways share the store. */
const SHARED_REPORT_MS = 5_000;
/**
 * Interval of the reports of a gateway that shares its store with no other, in milliseconds. Each report is a write.
 */
const REPORT_MS = 60_000;

interface NodeReportsOptions {
  readonly store: Pick<Store, "nodes" | "isShared">;
  /** Id of this node. */
  readonly node: string;
  readonly config: Pick<LiveConfig, "derived">;
  readonly logger: HomeLogger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Reports of this gateway to the store, for `signalbox status`, `doctor`, the metrics and the other gateways. */
export interface NodeReports {
  /** Makes the first reports, and then one every few seconds. Never rejects. */
  start(): Promise<void>;
  /** Counts an event of this node. Failures are logged. */
  count(event: NodeEvent): void;
  stop(): void;
}

export function createNodeReports(options: NodeReportsOptions): NodeReports {
  const { store, node, config, logger, now } = options;
  const startedAt = now();
  const configuration = config.derived(({ settings }) => digestConfiguration(settings));
  const place = config.derived(({ settings }) => settings.gateway);
  let timer: NodeJS.Timeout | undefined;
  let measured = { clockSkewMs: 0, latencyMs: 0 };
  let failed = false;

  async function report(): Promise<void> {
    const { node: name, labels } = place();
    const began = performance.now();
    const asked = now();
    const at = await store.nodes.report({
      id: node,
      name,
      version: VERSION,
      labels,
      configuration: configuration(),
      startedAt,
      ...measured,
    });
    const latencyMs = Math.round(performance.now() - began);
    // The time of the store is taken while the request is in progress.
    measured = { clockSkewMs: Math.round((asked + now()) / 2 - at), latencyMs };
  }

  async function tryReport(): Promise<void> {
    try {
      await report();
      failed = false;
    } catch (error) {
      // One line for each outage.
      if (!failed) logger.warn({ err: reasonOf(error) }, "this node could not report its state");
      failed = true;
    }
  }

  return {
    async start() {
      await tryReport();
      // The first report has no measurements of the store yet.
      await tryReport();
      timer = setInterval(() => void tryReport(), store.isShared ? SHARED_REPORT_MS : REPORT_MS).unref();
    },
    count(event) {
      store.nodes
        .count(node, event)
        .catch((error: unknown) =>
          logger.warn({ event, err: reasonOf(error) }, "an event of this node was not counted"),
        );
    },
    stop: () => clearInterval(timer),
  };
}

/** Number of digits of a digest. */
const DIGEST_CHARS = 16;

/** Returns a digest of the settings that should be the same on all nodes. Secrets are not part of it. */
export function digestConfiguration(settings: Config): string {
  const place = { node: undefined, labels: undefined, host: undefined, port: undefined, logLevel: undefined };
  const gateway = { ...settings.gateway, ...place };
  const shared = { ...settings, store: { ...settings.store, url: undefined }, gateway };
  // Redaction would differ between nodes, because the name of a node can come from a variable, like a secret.
  const text = JSON.stringify(withoutSecrets(shared));
  return createHash("sha256").update(text).digest("hex").slice(0, DIGEST_CHARS);
}

/** The subject of a lease. */
type LeaseKind = "agent" | "account" | "maintenance";

const KINDS: Readonly<Record<string, LeaseKind>> = {
  seat: "agent",
  account: "account",
  maintenance: "maintenance",
};

/** Returns what a lease decides about. Undefined for the lease under which a node writes. */
export function getLeaseKind(lease: string): LeaseKind | undefined {
  return KINDS[lease.split(" ", 1)[0] ?? ""];
}
