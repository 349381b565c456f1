import { type Client, isClientError, type NewSchedule, type ScheduleInfo } from "@signalbox/client";
import { GatewayError } from "@signalbox/home";
import { visible } from "@signalbox/telemetry";
import { listScheduled } from "../../triggers/list-scheduled.ts";
import { createScheduledTaskStore } from "../../triggers/scheduled-triggers.ts";
import type { CommonOptions } from "../common-options.ts";
import { withStore } from "../home-store.ts";
import { print } from "../output.ts";
import { isHeld, runningGateway } from "../running.ts";
import { printTable, short, time } from "../table.ts";

const TEXT_CHARS = 60;

/** `signalbox cron list`: lists the schedules of all agents. */
export async function list(options: CommonOptions): Promise<void> {
  const schedules = await withStore(options, "read", ({ kv }) => listScheduled(kv));
  printTable(options.json, schedules, {
    none: "Nothing is scheduled. Schedule something with `signalbox cron add`, or ask an agent that has the `cron` tool.",
    columns: {
      ID: ({ id }) => id,
      NEXT: ({ nextAt }) => time(nextAt),
      WHEN: ({ when }) => when,
      MISSED: ({ missed }) => missed,
      AGENT: ({ agent }) => agent,
      "ANSWERS IN": ({ place }) => (place === undefined ? "" : short(formatPlace(place), 40)),
      SESSION: ({ session = "" }) => short(session, 40),
      TEXT: ({ text }) => short(text, TEXT_CHARS),
    },
  });
}

/** `signalbox cron add <text>` */
export async function add(
  words: readonly string[],
  { home, json, ...wanted }: CommonOptions & Omit<NewSchedule, "text">,
): Promise<void> {
  const { client } = await runningGateway(home);
  const answer = await client.addSchedule({ ...wanted, text: words.join(" ") });
  if (!answer.ok) throw new GatewayError("usage", answer.message);
  const { schedule } = answer;
  print(json, schedule, () => [
    `${schedule.id}: ${schedule.when}, next ${new Date(schedule.nextAt).toISOString()}.`,
    ...(schedule.place === undefined
      ? []
      : [`Its answers appear in ${formatPlace(schedule.place)} (${schedule.session}).`]),
  ]);
}

function formatPlace({ channel, kind, id, name = id }: NonNullable<ScheduleInfo["place"]>): string {
  // Names come from strangers.
  const quoted = visible(JSON.stringify(name));
  const where = channel === "web" ? "the web page" : channel;
  return kind === "direct" ? `the direct chat ${quoted} on ${where}` : `the ${kind} ${quoted} on ${where}`;
}

/** `signalbox cron remove <id>` */
export async function remove(id: string, options: CommonOptions): Promise<void> {
  if (isHeld(options.home)) await asked(id, options, (client) => client.removeSchedule(id));
  else if (!(await removeAtRest(id, options))) throw unknown(id);
  print(options.json, { id, removed: true }, () => [`${id} was removed.`]);
}

/** `signalbox cron run <id>` */
export async function run(id: string, options: CommonOptions): Promise<void> {
  const outcome = await asked(id, options, (client) => client.runSchedule(id));
  if (outcome === "later")
    throw new GatewayError("failure", "The gateway is not accepting messages right now. Try again.");
  print(options.json, { id, outcome }, () => [`${id} runs now.`]);
}

async function asked<T>(id: string, options: CommonOptions, ask: (client: Client) => Promise<T>): Promise<T> {
  const { client } = await runningGateway(options.home);
  try {
    return await ask(client);
  } catch (error) {
    throw isClientError(error) && error.code === "not_found" ? unknown(id) : error;
  }
}

/** Changes the database directly, which is safe because no gateway is running. */
async function removeAtRest(id: string, options: CommonOptions): Promise<boolean> {
  return withStore(options, "share", async ({ kv }) => {
    const store = createScheduledTaskStore(kv, () => {});
    const isThere = (await store.list()).some((schedule) => schedule.id === id);
    if (isThere) await store.remove(id);
    return isThere;
  });
}

function unknown(id: string): GatewayError {
  const why =
    id === "heartbeat"
      ? "Heartbeats are set in the configuration (`agents.*.heartbeat`)."
      : `There is no schedule ${id}.`;
  return new GatewayError("failure", `${why} \`signalbox cron list\` shows all schedules.`);
}
