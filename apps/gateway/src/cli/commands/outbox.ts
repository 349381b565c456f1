import { GatewayError } from "@signalbox/home";
import type { OutboxChange, OutboxState } from "@signalbox/store";
import { explainRefusal, MAX_REPLIES, OPEN, UNDELIVERED } from "../../api/admin/outbox.ts";
import type { CommonOptions } from "../common-options.ts";
import { type HomeStore, withStore } from "../home-store.ts";
import { print } from "../output.ts";
import { isHeld, runningGateway } from "../running.ts";
import { printTable, time } from "../table.ts";

/** `signalbox outbox list [--all]`: lists failed replies. `--all` includes replies that are waiting or being sent. */
export async function list(options: CommonOptions & { readonly all?: boolean }): Promise<void> {
  const states = options.all === true ? [...UNDELIVERED, ...OPEN] : UNDELIVERED;
  const rows = await withStore(options, "read", (store) => store.outbox.list({ states, limit: MAX_REPLIES }));
  printTable(options.json, rows, {
    none: options.all === true ? "All replies were delivered." : "No undelivered replies.",
    columns: {
      ID: ({ id }) => id,
      STATE: ({ state }) => state,
      WHERE: ({ channel, account }) => `${channel}/${account}`,
      TIME: ({ createdAt }) => time(createdAt),
      TRIES: ({ attempts }) => String(attempts),
      ERROR: ({ error }) => error ?? "",
    },
    below: rows.length === MAX_REPLIES ? [`Only the newest ${MAX_REPLIES} are shown.`] : [],
  });
}

/** `signalbox outbox retry <id>` */
export async function retry(id: string, options: CommonOptions): Promise<void> {
  const was = await change(id, options, "sent again", (store) => store.outbox.retry(id));
  const when = await notifyGateway(options.home);
  const twice = was === "uncertain" ? " It may already have been delivered, so it may appear twice." : "";
  print(options.json, { id, was, done: "retry", when }, () => [`${id} ${WHEN[when]}.${twice}`]);
}

/** `signalbox outbox drop <id>` */
export async function drop(id: string, options: CommonOptions): Promise<void> {
  const was = await change(id, options, "dropped", (store) => store.outbox.drop(id));
  print(options.json, { id, was, done: "drop" }, () => [`Dropped ${id}, which was ${was}.`]);
}

const WHEN = {
  now: "is being sent again now",
  soon: "will be sent again within seconds, when the gateway, which cannot be reached from here, next checks",
  "next start": "will be sent again when the gateway starts",
} as const;

/**
 * Makes a running gateway check the outbox immediately. Otherwise, an idle gateway notices the change at its next lease
 * renewal.
 */
async function notifyGateway(home: string | undefined): Promise<keyof typeof WHEN> {
  if (!isHeld(home)) return "next start";
  try {
    const { tell } = await runningGateway(home);
    await tell("outbox/changed");
    return "now";
  } catch {
    return "soon";
  }
}

/** @throws GatewayError with the reason why nothing was changed */
async function change(
  id: string,
  options: CommonOptions,
  done: string,
  apply: (store: HomeStore) => Promise<OutboxChange>,
): Promise<OutboxState> {
  const result = await withStore(options, "share", apply);
  if (result.outcome === "applied") return result.state;
  if (result.outcome === "unknown")
    throw new GatewayError(
      "failure",
      `There is no reply ${id}. \`signalbox outbox list --all\` shows all replies.`,
    );
  throw new GatewayError("failure", `${id} cannot be ${done}: ${explainRefusal(result.state)}.`);
}
