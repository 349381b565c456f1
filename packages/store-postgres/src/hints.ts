import { randomUUID } from "node:crypto";
import { createLocalHints } from "@signalbox/store/backend";
import type { Hints } from "@signalbox/store/types";
import pg from "pg";

const CHANNEL = "signalbox_hints";
/** Time for which hints are collected before they are sent together, in milliseconds. */
const COALESCE_MS = 10;
/** Delay before a lost connection is opened again, in milliseconds. */
const RECONNECT_MS = 1_000;

/** Hints with a connection that must be closed. */
export interface SharedHints extends Hints {
  close(): Promise<void>;
}

/**
 * Creates hints that reach all processes with a store on this database. They use a separate connection, which
 * is opened on first use, because `NOTIFY` in the transaction of a write would serialize all writers. Hints are lost
 * while the connection is down, and behind a pooler in transaction mode.
 */
export function createSharedHints(config: pg.ClientConfig): SharedHints {
  const local = createLocalHints();
  const sender = randomUUID();
  const waiting = new Set<string>();
  let client: pg.Client | undefined;
  let reconnecting: NodeJS.Timeout | undefined;
  let flushing: NodeJS.Timeout | undefined;
  let isClosed = false;

  function open(): void {
    if (client !== undefined || reconnecting !== undefined || isClosed) return;
    const opened = new pg.Client(config);
    client = opened;
    // Both events can follow each other.
    opened.on("error", () => reopenLater(opened));
    opened.on("end", () => reopenLater(opened));
    opened.on("notification", ({ payload = "" }) => {
      if (!payload.startsWith(sender)) local.send(payload.slice(sender.length + 1));
    });
    opened
      .connect()
      .then(() => opened.query(`LISTEN ${CHANNEL}`))
      .catch(() => reopenLater(opened));
  }

  function reopenLater(lost: pg.Client): void {
    if (client !== lost) return;
    client = undefined;
    lost.end().catch(() => {});
    if (isClosed) return;
    reconnecting = setTimeout(() => {
      reconnecting = undefined;
      open();
    }, RECONNECT_MS);
    reconnecting.unref();
  }

  function flush(): void {
    flushing = undefined;
    const payloads = [...waiting].map((topic) => `${sender} ${topic}`);
    waiting.clear();
    client
      ?.query(`SELECT pg_notify('${CHANNEL}', payload) FROM unnest($1::text[]) AS payload`, [payloads])
      .catch(() => {});
  }

  return {
    send(topic) {
      local.send(topic);
      if (isClosed) return;
      open();
      waiting.add(topic);
      flushing ??= setTimeout(flush, COALESCE_MS).unref();
    },
    listen(onHint) {
      open();
      return local.listen(onHint);
    },
    async close() {
      isClosed = true;
      clearTimeout(reconnecting);
      clearTimeout(flushing);
      await client?.end().catch(() => {});
    },
  };
}

/** Creates hints that reach only this process. */
export function createUnsharedHints(): SharedHints {
  return { ...createLocalHints(), close: async () => {} };
}
