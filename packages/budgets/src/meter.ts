import { randomUUID } from "node:crypto";
import {
  type AssistantMessage,
  getStopReason,
  type Model,
  type ModelContext,
  type ModelErrorData,
  type ModelEvent,
  type StreamModel,
  type StreamOptions,
} from "@signalbox/agent-core";
import type { Amount, Claim, Ledger, SettledPot } from "@signalbox/store/types";
import {
  addAmounts,
  type Budget,
  type BudgetPot,
  getAllowedAmount,
  getPeriod,
  getPeriodEnd,
  getPots,
  type Spender,
  ZERO,
} from "./budget.ts";
import { estimateAmount, estimateMaximum, fitsModel, type GetPrices, getReportedAmount } from "./estimate.ts";

/** An event of a budget that people may want to know about. */
export interface BudgetNotice extends BudgetPot {
  /**
   * `low`: the share `warnAt` is spent. `used_up`: all of it is spent. Both are sent once in a period. `cheaper`:
   * another model answered because the budget is used up. `refused`: a call was refused for that reason.
   */
  readonly kind: "low" | "used_up" | "cheaper" | "refused";
  readonly spender: Spender;
}

/** A model with its fallbacks, and its stream. */
export interface MeteredModel {
  readonly model: Model;
  /** Models that may answer instead. */
  readonly fallbacks: readonly Model[];
  readonly stream: StreamModel;
}

/** Asks a person whether to grant a budget's amount once more. */
export type AskForGrant = (pot: BudgetPot, signal: AbortSignal | undefined) => Promise<boolean>;

export interface MeterOptions {
  /** Called for each call, so budgets may change at any time. */
  readonly budgets: () => readonly Budget[];
  readonly ledger: Ledger;
  readonly getPrices: GetPrices;
  /**
   * Returns the model that a budget with the action `cheaper` names; `undefined` if it is unavailable. Default: no
   * model is available, so the call is refused.
   */
  readonly cheaper?: (spender: Spender, reference: string) => MeteredModel | undefined;
  /** Default: notices are dropped. */
  readonly onNotice?: (notice: BudgetNotice) => void;
  /** Called if a call was made and could not be settled. Its reservation remains. */
  readonly onProblem: (error: unknown) => void;
  /** Default `Date.now`. */
  readonly now?: () => number;
  /** Returns a unique id for a reservation. Default: a random UUID. */
  readonly newId?: () => string;
}

/** Charges model calls to budgets and keeps them within their limits. */
export interface Meter {
  /**
   * Wraps a model's stream: each call is reserved before it is made and settled when it ends. A call that the budgets
   * do not allow ends with the error code `budget`.
   *
   * @param ask asks a person if a budget has the action `ask`. Default: such calls are refused.
   */
  stream(spender: Spender, model: MeteredModel, ask?: AskForGrant): StreamModel;
  /**
   * Makes another kind of call, such as a request for embeddings. Refuses it instead of asking for approval or using a
   * cheaper model. A call that rejects costs nothing.
   *
   * @param maximum reserved before the call
   * @throws BudgetError if a budget is used up
   */
  pay<T>(spender: Spender, maximum: Amount, make: () => Promise<PaidResult<T>>): Promise<T>;
}

/** The result of a call and its cost. */
export interface PaidResult<T> {
  readonly value: T;
  readonly amount: Amount;
}

/** A call was refused because a budget is used up. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly code = "budget";
}

/** The options with their defaults. */
type Context = Required<MeterOptions>;

/**
 * Creates a meter.
 *
 * @example
 * const meter = createMeter({ budgets, ledger, getPrices: ({ prices }) => prices, onProblem: console.error });
 * const stream = meter.stream({ agent: "main", sender: "web:ann" }, model);
 */
export function createMeter(options: MeterOptions): Meter {
  const { cheaper = () => undefined, onNotice = () => {}, now = Date.now, newId = randomUUID } = options;
  const context: Context = { ...options, cheaper, onNotice, now, newId };
  return {
    stream: (spender, metered, ask) =>
      async function* (model, request, streamOptions = {}) {
        if (getCurrentPots(context, spender).length === 0) {
          yield* metered.stream(model, request, streamOptions);
          return;
        }
        const call = { spender, request, streamOptions, ask };
        const admission = await admit(context, call, { ...metered, model }).catch(
          (error: unknown): Admission =>
            streamOptions.signal?.aborted === true
              ? ABORTED
              : { kind: "refused", code: "budget", message: `The budgets cannot be read: ${error}` },
        );
        if (admission.kind === "refused") yield toErrorEvent(model, admission, context.now());
        else yield* streamAndSettle(context, call, admission);
      },
    pay: (spender, maximum, make) => pay(context, spender, maximum, make),
  };
}

async function pay<T>(
  context: Context,
  spender: Spender,
  maximum: Amount,
  make: () => Promise<PaidResult<T>>,
): Promise<T> {
  const pots = getCurrentPots(context, spender);
  if (pots.length === 0) return (await make()).value;
  const id = context.newId();
  const claims = pots.map((pot) => toClaim(pot, false));
  const { full } = await context.ledger.reserve(id, maximum, claims);
  const [first] = full.flatMap((index) => pots[index] ?? []);
  if (first !== undefined) throw new BudgetError(refuse(context, spender, first).message);
  let cost = ZERO;
  try {
    const { value, amount } = await make();
    cost = amount;
    return value;
  } finally {
    await settle(context, spender, { id, cost }, pots);
  }
}

interface Call {
  readonly spender: Spender;
  readonly request: ModelContext;
  readonly streamOptions: StreamOptions;
  readonly ask: AskForGrant | undefined;
}

interface Admitted {
  readonly kind: "admitted";
  /** Of the reservation. */
  readonly id: string;
  /** The model that answers: the requested one or a cheaper one. */
  readonly metered: MeteredModel;
  readonly reserved: Amount;
  readonly pots: readonly BudgetPot[];
}

interface Refused {
  readonly kind: "refused";
  /**
   * `overflow`: the request does not fit the cheaper model. `aborted`: the call was aborted during a request for
   * approval.
   */
  readonly code: "budget" | "overflow" | "aborted";
  readonly message: string;
  /** The context window of the cheaper model, for `overflow`. */
  readonly contextWindow?: number;
}

type Admission = Admitted | Refused;

const ABORTED: Refused = {
  kind: "refused",
  code: "aborted",
  message: "The call was aborted while a person was asked about its budget.",
};

/** Reserves a call for the requested model or a cheaper one, asking people where a budget requires it. */
async function admit(context: Context, call: Call, requested: MeteredModel): Promise<Admission> {
  let metered = requested;
  for (;;) {
    // Determined on each iteration: a person may answer in the next period only.
    const pots = getCurrentPots(context, call.spender);
    const models = [metered.model, ...metered.fallbacks];
    const reserved = estimateMaximum(models, call.request, call.streamOptions, context.getPrices);
    const id = context.newId();
    const claims = pots.map((pot) => toClaim(pot, metered !== requested));
    const { full } = await context.ledger.reserve(id, reserved, claims);
    if (full.length === 0) return { kind: "admitted", id, metered, reserved, pots };
    const fullPots = full.flatMap((index) => pots[index] ?? []);
    const stopping = fullPots.find(({ budget }) => budget.whenUsedUp.action === "stop");
    if (stopping !== undefined) return refuse(context, call.spender, stopping);
    const asking = fullPots.find(({ budget }) => budget.whenUsedUp.action === "ask");
    if (asking !== undefined) {
      if (await isGranted(context, call, asking)) continue;
      return call.streamOptions.signal?.aborted === true ? ABORTED : refuse(context, call.spender, asking);
    }
    const [first] = fullPots;
    if (first?.budget.whenUsedUp.action !== "cheaper") throw new Error("A pot without a limit is full.");
    const cheaper = context.cheaper(call.spender, first.budget.whenUsedUp.model);
    if (cheaper === undefined) return refuse(context, call.spender, first);
    if (!fitsModel(cheaper.model, call.request, call.streamOptions)) return refuseAsTooLong(cheaper.model);
    context.onNotice({ ...first, kind: "cheaper", spender: call.spender });
    metered = cheaper;
  }
}

function getCurrentPots({ budgets, now }: Context, spender: Spender): readonly BudgetPot[] {
  return getPots(budgets(), spender, now());
}

/** The claim has no limit if the budget only warns, or has already switched the call to a cheaper model. */
function toClaim({ account, period, budget }: BudgetPot, isCheaper: boolean): Claim {
  const { action } = budget.whenUsedUp;
  const isUnlimited = action === "warn" || (action === "cheaper" && isCheaper);
  return { account, period, limit: isUnlimited ? undefined : budget.limit };
}

/** A grant is not recorded if its period has ended in the meantime. The call then counts toward the next period. */
async function isGranted(
  { ledger, now }: Context,
  { ask, streamOptions }: Call,
  pot: BudgetPot,
): Promise<boolean> {
  if (ask === undefined || !(await ask(pot, streamOptions.signal))) return false;
  if (pot.period === getPeriod(pot.budget.per, now())) await ledger.grant(pot);
  return true;
}

function refuse({ onNotice, now }: Context, spender: Spender, pot: BudgetPot): Refused {
  onNotice({ ...pot, kind: "refused", spender });
  const { of, per, limit } = pot.budget;
  if (limit.amount === 0)
    return {
      kind: "refused",
      code: "budget",
      message: "The budget is 0. It may be invalid in the configuration: run `signalbox config check`.",
    };
  const owner = of === "sender" ? "Your" : of === "all" ? "The" : `This ${of}'s`;
  const reset = new Date(getPeriodEnd(per, now())).toISOString().slice(0, 16).replace("T", " ");
  const message = `${owner} budget for this ${per} is used up. It resets at ${reset} UTC.`;
  return { kind: "refused", code: "budget", message };
}

/** The code `overflow` and the context window make the caller compact the conversation and retry. */
function refuseAsTooLong(model: Model): Refused {
  const message = `The request is too long for ${model.id}, which answers because a budget is used up.`;
  return { kind: "refused", code: "overflow", message, contextWindow: model.contextWindow };
}

/** Forwards a call's events. Settles the call after the last one, or when the consumer stops reading. */
async function* streamAndSettle(
  context: Context,
  { spender, request, streamOptions }: Call,
  { id, metered, reserved, pots }: Admitted,
): AsyncGenerator<ModelEvent> {
  const bill = createBill(metered.model, request, context.getPrices, reserved);
  try {
    for await (const event of metered.stream(metered.model, request, streamOptions)) {
      bill.add(event);
      yield event;
    }
  } finally {
    await settle(context, spender, { id, cost: bill.total() }, pots);
  }
}

async function settle(
  { ledger, onNotice, onProblem }: Context,
  spender: Spender,
  { id, cost }: { readonly id: string; readonly cost: Amount },
  pots: readonly BudgetPot[],
): Promise<void> {
  const settled = await ledger.settle(id, cost).catch((error: unknown) => {
    onProblem(error);
    return [];
  });
  for (const notice of getNotices(settled, pots)) onNotice({ ...notice, spender });
}

/** Adds up the cost of a call from its events. */
function createBill(model: Model, request: ModelContext, getPrices: GetPrices, reserved: Amount) {
  let attempts = ZERO;
  let end: AssistantMessage | undefined;
  let isAnswered = false;
  let written = "";
  const estimate = (): Amount => {
    const { micros, tokens } = estimateAmount(model, request, written, getPrices);
    return { micros: Math.min(micros, reserved.micros), tokens: Math.min(tokens, reserved.tokens) };
  };
  return {
    add(event: ModelEvent): void {
      if (event.type === "attempt") {
        const reported = getReportedAmount(event.failure.usage);
        attempts = addAmounts(attempts, reported ?? (isAnswered ? estimate() : ZERO));
        [isAnswered, written] = [false, ""];
      } else if (event.type === "finish") end = event.message;
      else if (event.type === "error") end = event.partial;
      else if ("delta" in event) written += event.delta;
      isAnswered ||= event.type === "block.start" || event.type === "finish";
    },
    total(): Amount {
      const isCutOff = end === undefined || end.error?.code === "aborted";
      // Vendors do not charge for a request that they refused or that never reached them.
      const unreported = isAnswered || isCutOff ? estimate : () => ZERO;
      return addAmounts(attempts, getReportedAmount(end?.usage) ?? unreported());
    },
  };
}

/** Returns a notice for each threshold that this call crossed. Spending only grows, so each is crossed once. */
function getNotices(
  settled: readonly SettledPot[],
  pots: readonly BudgetPot[],
): Omit<BudgetNotice, "spender">[] {
  return pots.flatMap((pot): Omit<BudgetNotice, "spender">[] => {
    const { budget } = pot;
    const { unit } = budget.limit;
    const settledPot = settled.find(
      ({ account, period }) => account === pot.account && period === pot.period,
    );
    if (settledPot === undefined) return [];
    const allowed = getAllowedAmount(budget.limit, settledPot.grants);
    const crosses = (threshold: number): boolean =>
      settledPot.before[unit] < threshold && settledPot.after[unit] >= threshold;
    if (crosses(allowed)) return [{ ...pot, kind: "used_up" }];
    return crosses(allowed * budget.warnAt) ? [{ ...pot, kind: "low" }] : [];
  });
}

function toErrorEvent(
  { api, provider, id }: Model,
  { kind: _, ...reason }: Refused,
  timestamp: number,
): ModelEvent {
  const error: ModelErrorData = { ...reason, retryable: false, emitted: false, scope: "provider" };
  const stopReason = getStopReason(reason.code);
  const turn = { role: "assistant", api, provider, model: id, timestamp } as const;
  return { type: "error", error, partial: { ...turn, content: [], stopReason, error } };
}
