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
import {
  type Amount,
  type Budget,
  type BudgetPot,
  endOfPeriod,
  type Pot,
  periodOf,
  potsOf,
  type Spender,
} from "./budget.ts";
import { fits, guessedAmount, mostOf, type PricesOf, reportedAmount } from "./estimate.ts";
import { allowed, isSamePot, type Ledger, NOTHING, type Settled, sum } from "./ledger.ts";

/** Something that people may want to hear of. */
export interface BudgetNews extends BudgetPot {
  /**
   * `low`: its share `warnAt` is spent; `used-up`: all of it; both once in a period. `cheaper`, `refused`:
   * what became of a call that found it used up.
   */
  readonly kind: "low" | "used-up" | "cheaper" | "refused";
  readonly spender: Spender;
}

/** A model with all that may answer in its place, and its stream. */
export interface MeteredModel {
  readonly model: Model;
  readonly fallbacks: readonly Model[];
  readonly stream: StreamModel;
}

/** Asks a person whether a budget's amount is granted once more. */
export type AskForMore = (pot: BudgetPot, signal: AbortSignal | undefined) => Promise<boolean>;

export interface MeterOptions {
  /** Asked at each call: they may change. */
  readonly budgets: () => readonly Budget[];
  readonly ledger: Ledger;
  readonly pricesOf: PricesOf;
  /** The model that a budget names for when it is used up; undefined where it cannot be asked. */
  readonly cheaper: (spender: Spender, reference: string) => MeteredModel | undefined;
  readonly onNews: (news: BudgetNews) => void;
  /** A call was made, but not settled: what it has reserved stays. */
  readonly onProblem: (error: unknown) => void;
  readonly now: () => number;
  /** Ids of reservations, unlike all before. */
  readonly newId: () => string;
}

/** Makes model calls count, and keeps them within budgets. */
export interface Meter {
  /** The model's stream, with each call reserved before it is made, and settled when it is over. */
  stream(spender: Spender, model: MeteredModel, ask?: AskForMore): StreamModel;
  /**
   * Makes another kind of call, for instance for embeddings, with a maximum cost. No one is asked about it, and nothing
   * cheaper replaces it: if a budget is used up, it rejects with a `BudgetError`. A failed one costs nothing.
   */
  pay<T>(spender: Spender, most: Amount, make: () => Promise<Paid<T>>): Promise<T>;
}

/** What a call gave, and what it came to. */
export interface Paid<T> {
  readonly value: T;
  readonly amount: Amount;
}

/** A call was not made, since a budget is used up. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly code = "budget";
}

export function createMeter(options: MeterOptions): Meter {
  return {
    stream: (spender, metered, ask) =>
      async function* (model, context, streamOptions = {}) {
        if (potsNow(options, spender).length === 0) {
          yield* metered.stream(model, context, streamOptions);
          return;
        }
        const call = { spender, context, streamOptions, ask };
        const admitted = await admit(options, call, { ...metered, model }).catch(
          (error: unknown): Admitted =>
            streamOptions.signal?.aborted === true
              ? STOPPED
              : { kind: "refused", code: "budget", message: `The budgets cannot be read: ${error}` },
        );
        if (admitted.kind === "refused") yield refusal(model, admitted, options.now());
        else yield* settling(options, call, admitted);
      },
    pay: (spender, most, make) => pay(options, spender, most, make),
  };
}

async function pay<T>(
  options: MeterOptions,
  spender: Spender,
  most: Amount,
  make: () => Promise<Paid<T>>,
): Promise<T> {
  const pots = potsNow(options, spender);
  if (pots.length === 0) return (await make()).value;
  const id = options.newId();
  const claims = pots.map((pot) => claimOf(pot, false));
  const { full } = await options.ledger.reserve(id, most, claims);
  const [first] = full.flatMap((place) => pots[place] ?? []);
  if (first !== undefined) throw new BudgetError(refuse(options, { spender }, first).message);
  let cost = NOTHING;
  try {
    const { value, amount } = await make();
    cost = amount;
    return value;
  } finally {
    await settle(options, spender, { id, cost }, pots);
  }
}

interface Call {
  readonly spender: Spender;
  readonly context: ModelContext;
  readonly streamOptions: StreamOptions;
  readonly ask: AskForMore | undefined;
}

type Admitted =
  | {
      readonly kind: "made";
      readonly id: string;
      readonly by: MeteredModel;
      readonly most: Amount;
      readonly pots: readonly BudgetPot[];
    }
  | Refused;

interface Refused {
  readonly kind: "refused";
  /** `overflow`: the remaining model has no room for it. `aborted`: it was stopped while a person was asked. */
  readonly code: "budget" | "overflow" | "aborted";
  readonly message: string;
  /** Of the model that has no room for it. */
  readonly contextWindow?: number;
}

const STOPPED: Refused = {
  kind: "refused",
  code: "aborted",
  message: "The call was stopped while somebody was asked about its budget.",
};

/** Reserves for a call, of the model that its budgets leave it, once people have been asked where they are to be. */
async function admit(options: MeterOptions, call: Call, wanted: MeteredModel): Promise<Admitted> {
  let by = wanted;
  for (;;) {
    // Whoever is asked may take until the next period.
    const pots = potsNow(options, call.spender);
    const most = mostOf([by.model, ...by.fallbacks], call.context, call.streamOptions, options.pricesOf);
    const id = options.newId();
    const { full } = await options.ledger.reserve(
      id,
      most,
      pots.map((pot) => claimOf(pot, by !== wanted)),
    );
    if (full.length === 0) return { kind: "made", id, by, most, pots };
    const used = full.flatMap((place) => pots[place] ?? []);
    const refused = used.find(({ budget }) => budget.whenUsedUp.action === "stop");
    if (refused !== undefined) return refuse(options, call, refused);
    const toAsk = used.find(({ budget }) => budget.whenUsedUp.action === "ask");
    if (toAsk !== undefined) {
      if (await grantedMore(options, call, toAsk)) continue;
      return call.streamOptions.signal?.aborted === true ? STOPPED : refuse(options, call, toAsk);
    }
    const [first] = used;
    if (first?.budget.whenUsedUp.action !== "cheaper") throw new Error("A pot without a limit is full.");
    const cheaper = options.cheaper(call.spender, first.budget.whenUsedUp.model);
    if (cheaper === undefined) return refuse(options, call, first);
    if (!fits(cheaper.model, call.context, call.streamOptions)) return tooLong(cheaper.model);
    options.onNews({ ...first, kind: "cheaper", spender: call.spender });
    by = cheaper;
  }
}

function potsNow({ budgets, now }: MeterOptions, spender: Spender): readonly BudgetPot[] {
  return potsOf(budgets(), spender, now());
}

/** What only warns counts and refuses nothing, nor does what has led to a cheaper model already. */
function claimOf({ account, period, budget }: BudgetPot, isCheaper: boolean) {
  const { action } = budget.whenUsedUp;
  const lets = action === "warn" || (action === "cheaper" && isCheaper);
  return lets ? { account, period } : { account, period, limit: budget.limit };
}

/** What was granted of a period that is over by now adds nothing: the call is one of the next, which begins anew. */
async function grantedMore(
  { ledger, now }: MeterOptions,
  { ask, streamOptions }: Call,
  pot: BudgetPot,
): Promise<boolean> {
  if (ask === undefined || !(await ask(pot, streamOptions.signal))) return false;
  if (pot.period === periodOf(pot.budget.per, now())) await ledger.grant(pot);
  return true;
}

function refuse({ onNews, now }: MeterOptions, { spender }: Pick<Call, "spender">, pot: BudgetPot): Refused {
  onNews({ ...pot, kind: "refused", spender });
  const { of, per, limit } = pot.budget;
  if (limit.amount === 0)
    return {
      kind: "refused",
      code: "budget",
      message: "Nothing may be spent, as where a budget cannot be read.",
    };
  const whose = of === "sender" ? "your" : of === "all" ? "the" : `this ${of}'s`;
  const again = new Date(endOfPeriod(per, now())).toISOString().slice(0, 16).replace("T", " ");
  const message = `${whose} budget for this ${per} is used up. It begins anew at ${again} UTC.`;
  return { kind: "refused", code: "budget", message: message.charAt(0).toUpperCase() + message.slice(1) };
}

/** Who asks has the conversation made shorter, by this model's measure, and asks again. */
function tooLong(model: Model): Refused {
  const message = `The request is too long for ${model.id}, which answers since a budget is used up.`;
  return { kind: "refused", code: "overflow", message, contextWindow: model.contextWindow };
}

/** Passes a call's events on, and settles it with its last one, or where its reader goes away. */
async function* settling(
  options: MeterOptions,
  { spender, context, streamOptions }: Call,
  { id, by, most, pots }: Extract<Admitted, { kind: "made" }>,
): AsyncGenerator<ModelEvent> {
  const bill = createBill(by.model, context, options.pricesOf, most);
  try {
    for await (const event of by.stream(by.model, context, streamOptions)) {
      bill.see(event);
      yield event;
    }
  } finally {
    await settle(options, spender, { id, cost: bill.total() }, pots);
  }
}

/** Puts what a call came to in the place of what was reserved for it. */
async function settle(
  { ledger, onNews, onProblem }: MeterOptions,
  spender: Spender,
  { id, cost }: { readonly id: string; readonly cost: Amount },
  pots: readonly BudgetPot[],
): Promise<void> {
  const settled = await ledger.settle(id, cost).catch((error: unknown) => {
    onProblem(error);
    return [];
  });
  for (const news of newsOf(settled, pots)) onNews({ ...news, spender });
}

/** What a call comes to, by what its events say. */
function createBill(model: Model, context: ModelContext, pricesOf: PricesOf, most: Amount) {
  let tried = NOTHING;
  let end: AssistantMessage | undefined;
  let isAnswered = false;
  let written = "";
  const guessed = (): Amount => {
    const { micros, tokens } = guessedAmount(model, context, written, pricesOf);
    return { micros: Math.min(micros, most.micros), tokens: Math.min(tokens, most.tokens) };
  };
  return {
    see(event: ModelEvent): void {
      if (event.type === "attempt") {
        tried = sum(tried, reportedAmount(event.failure.usage) ?? (isAnswered ? guessed() : NOTHING));
        [isAnswered, written] = [false, ""];
      } else if (event.type === "finish") end = event.message;
      else if (event.type === "error") end = event.partial;
      else if ("delta" in event) written += event.delta;
      isAnswered ||= event.type === "block.start" || event.type === "finish";
    },
    total(): Amount {
      const isCutOff = end === undefined || end.error?.code === "aborted";
      // A request that was refused, or that nobody could be reached for, is not charged.
      const unsaid = isAnswered || isCutOff ? guessed : () => NOTHING;
      return sum(tried, reportedAmount(end?.usage) ?? unsaid());
    },
  };
}

/** The marks that a pot has passed with this call. What is spent only grows, so each is passed once. */
function newsOf(settled: readonly Settled[], pots: readonly BudgetPot[]): Omit<BudgetNews, "spender">[] {
  return pots.flatMap((pot): Omit<BudgetNews, "spender">[] => {
    const { budget } = pot;
    const { unit } = budget.limit;
    const passed = settled.find((other: Pot) => isSamePot(other, pot));
    if (passed === undefined) return [];
    const whole = allowed(budget.limit, passed.grants);
    const isPassed = (mark: number): boolean => passed.before[unit] < mark && passed.after[unit] >= mark;
    if (isPassed(whole)) return [{ ...pot, kind: "used-up" }];
    return isPassed(whole * budget.warnAt) ? [{ ...pot, kind: "low" }] : [];
  });
}

/** A call that was not made. */
function refusal({ api, provider, id }: Model, { kind: _, ...why }: Refused, timestamp: number): ModelEvent {
  const error: ModelErrorData = { ...why, retryable: false, emitted: false, scope: "provider" };
  const stopReason = getStopReason(why.code);
  const turn = { role: "assistant", api, provider, model: id, timestamp } as const;
  return { type: "error", error, partial: { ...turn, content: [], stopReason, error } };
}
