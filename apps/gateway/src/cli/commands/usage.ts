import {
  describeBudget,
  formatAmount,
  getAllRemainingBudgets,
  getPeriod,
  type RemainingBudget,
} from "@signalbox/budgets";
import type { MessageInfo } from "@signalbox/client";
import type { RunId, RunSummary, UsageTotals } from "@signalbox/store";
import { daysAgo } from "../../api/usage.ts";
import { getBudgets } from "../../configure/budgets.ts";
import type { ServiceBodies } from "../../messages/service-store.ts";
import { messageInfo } from "../../messages/traces.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { type HomeStore, withStore } from "../home-store.ts";
import { printTable, short, time } from "../table.ts";

interface UsageOptions extends CommonOptions {
  readonly by: "message" | "day" | "agent" | "session" | "sender" | "model";
  readonly days?: number;
  readonly budgets?: boolean;
}

type Figures = Omit<UsageTotals, "runs">;

/** Usage of one run and the messages that it answered. */
interface AnswerUsage extends Figures {
  /** Time at which the answer was completed. */
  readonly at: number;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly messages: readonly MessageInfo[];
}

const DAY_MS = 86_400_000;
/** Default value of `--days` with `--by message`. */
const DAYS_OF_MESSAGES = 7;
/** Maximum duration of a run, in milliseconds. A run may wait for an approval for hours. */
const MAX_RUN_MS = DAY_MS;
const RUNS_AT_ONCE = 500;
const TEXT_CHARS = 40;

const FIGURES = {
  CALLS: ({ modelCalls }: Figures) => String(modelCalls),
  "TOKENS IN": ({ inputTokens }: Figures) => String(inputTokens),
  "CACHE READ": ({ cacheReadTokens }: Figures) => String(cacheReadTokens),
  "CACHE WRITE": ({ cacheWriteTokens }: Figures) => String(cacheWriteTokens),
  "TOKENS OUT": ({ outputTokens }: Figures) => String(outputTokens),
  "COST (USD)": ({ costMicros }: Figures) => dollars(costMicros),
};

/** `signalbox usage`: prints tokens and costs of completed runs, including runs that were pruned. */
export async function usage(options: UsageOptions): Promise<void> {
  const { by, days } = options;
  if (options.budgets === true) return budgetsLeft(options);
  if (by === "message") return usageByMessage(options, days ?? DAYS_OF_MESSAGES);
  const from = days === undefined ? {} : { from: daysAgo(days, Date.now()) };
  const groups = await withStore(options, "read", (store) => store.usage.sum({ by, ...from }));
  printTable(options.json, groups, {
    none: "No usage yet.",
    columns: {
      [by.toUpperCase()]: (group) => group.by || "(unknown)",
      RUNS: ({ runs }) => String(runs),
      ...FIGURES,
    },
    below: [inAll(groups)],
  });
}

async function usageByMessage(options: CommonOptions, days: number): Promise<void> {
  const since = Math.floor(daysAgo(days, Date.now()) / DAY_MS) * DAY_MS;
  const answers = await withStore(options, "read", (store) => answersSince(store, since));
  printTable(options.json, answers, {
    none: "No usage yet.",
    columns: {
      TIME: ({ at }) => time(at),
      MESSAGE: ({ messages }) => messages.map(({ id }) => id).join(" ") || "(not kept)",
      FROM: ({ messages: [first] }) => short(first?.sender ?? "", 24),
      ...FIGURES,
      TEXT: ({ messages: [first] }) => short(first?.text ?? "", TEXT_CHARS),
    },
    below: [
      inAll(answers),
      "Messages answered together share a row. Usage whose messages were removed appears only in the other groupings.",
    ],
  });
}

/** Returns the usage of each stored run that ended since the given time, newest first. */
async function answersSince({ runs }: HomeStore, since: number): Promise<AnswerUsage[]> {
  const answers: AnswerUsage[] = [];
  let before: RunId | undefined;
  for (;;) {
    const some = await runs.list({ limit: RUNS_AT_ONCE, before });
    const ended = some.filter(({ finishedAt }) => finishedAt !== undefined && finishedAt >= since);
    answers.push(...(await runs.summaries(ended.map(({ id }) => id))).map(answerUsage));
    // The runs are sorted by their start but filtered by their end.
    const last = some.at(-1);
    if (last === undefined || last.startedAt < since - MAX_RUN_MS) break;
    before = last.id;
  }
  return answers.toSorted((a, b) => b.at - a.at);
}

function answerUsage({ run, inbox }: RunSummary<ServiceBodies>): AnswerUsage {
  const { usage = {}, finishedAt = run.startedAt, agentId, sessionKey } = run;
  return {
    at: finishedAt,
    agentId,
    sessionKey,
    messages: inbox.map((row) => messageInfo(row, new Map())),
    modelCalls: usage.modelCalls ?? 0,
    inputTokens: usage.inputTokens ?? 0,
    cacheReadTokens: usage.cacheReadTokens ?? 0,
    cacheWriteTokens: usage.cacheWriteTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    costMicros: usage.costMicros ?? 0,
  };
}

function inAll(used: readonly Figures[]): string {
  const micros = used.reduce((sum, { costMicros }) => sum + costMicros, 0);
  return `Total: ${dollars(micros)} USD. Cache reads and writes are included in the input tokens.`;
}

/** Returns the remaining budget of every person with recorded calls. */
async function budgetsLeft(options: CommonOptions): Promise<void> {
  const budgets = getBudgets(configuredHome(options).loaded.config);
  const at = Date.now();
  const periods = [getPeriod("day", at), getPeriod("month", at)];
  const balances = await withStore(options, "read", (store) => store.budgets.inPeriods(periods));
  const amount = ({ budget }: RemainingBudget, value: number): string =>
    formatAmount(budget.limit.unit, value);
  printTable(options.json, getAllRemainingBudgets(balances, budgets, at), {
    none:
      budgets.length === 0
        ? "No budgets are set. Add them under `budgets` in the configuration."
        : "None of the budgets has been used in this period.",
    columns: {
      BUDGET: ({ budget }) => describeBudget(budget),
      WHOSE: ({ account }) => account,
      USED: (left) => amount(left, left.spent),
      RESERVED: (left) => amount(left, left.reserved),
      LEFT: (left) => amount(left, left.left),
      "RESETS (UTC)": ({ until }) => new Date(until).toISOString().slice(0, 16).replace("T", " "),
    },
  });
}

/** Formats micro-dollars with six decimals. */
function dollars(micros: number): string {
  return (micros / 1e6).toFixed(6);
}
