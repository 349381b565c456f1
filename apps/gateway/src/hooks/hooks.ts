import type { StandardSchemaV1 } from "@standard-schema/spec";
import { frozenCopy } from "./frozen-copy.ts";
import type { AnyPoints, Hook, Payload, PointDefinitions, PointOf, UncheckedHook } from "./point-types.ts";
import { createTimeLimit, type StartTimer } from "./time-limit.ts";

/** Calls the hooks of each point according to its kind. */
export interface Hooks<Points extends AnyPoints<Points>> {
  /** Starts all hooks and returns immediately. */
  observe<Name extends PointOf<Points, "observe">>(point: Name, payload: Payload<Points, Name>): void;
  /** Returns the payload with the changes from all hooks. Never rejects. */
  modify<Name extends PointOf<Points, "modify">>(
    point: Name,
    payload: Payload<Points, Name>,
  ): Promise<Payload<Points, Name>>;
  /** Returns the first denial. If there is none, returns the payload with the changes from all hooks. Never rejects. */
  check<Name extends PointOf<Points, "block">>(
    point: Name,
    payload: Payload<Points, Name>,
  ): Promise<BlockResult<Payload<Points, Name>>>;
  /** Returns true if a hook is registered for a point. */
  has(point: keyof Points): boolean;
  /** Resolves when no observer is running. */
  idle(): Promise<void>;
}

type BlockResult<Payload> =
  /** `changed`: a hook changed the payload, which must be validated again. */
  | { readonly action: "allow"; readonly payload: Payload; readonly changed: boolean }
  | { readonly action: "deny"; readonly reason: string };

/** A failed hook and the consequence of its failure. */
export interface HookFailure {
  readonly hook: string;
  readonly point: string;
  readonly error: unknown;
  /**
   * `ignored`: the hook was an observer. `skipped`: its change was dropped. `denied`: a blocking hook failed, so the
   * call is denied.
   */
  readonly consequence: "ignored" | "skipped" | "denied";
}

export interface HooksOptions<Points extends AnyPoints<Points>> {
  readonly points: PointDefinitions<Points>;
  /** Hooks of the host program, in the order in which they are called. */
  readonly hooks: readonly Hook<Points>[];
  /** Hooks to call before `hooks`. Read on each call, because a reload may change them. Default: none. */
  readonly unchecked?: () => readonly UncheckedHook[];
  /**
   * The gateway's own hooks, which are called before all others. They do not modify their payload, so it is not copied
   * for them.
   */
  readonly own?: readonly Hook<Points>[];
  readonly onFailure: (failure: HookFailure) => void;
  /** Starts a timer and returns a function that cancels it. Default: the system's timers. */
  readonly startTimer?: StartTimer;
}

const OBSERVE_MS = 5_000;
const DECIDE_MS = 2_000;

/** @throws TypeError if a hook names an unknown point */
export function createHooks<Points extends AnyPoints<Points>>(options: HooksOptions<Points>): Hooks<Points> {
  return new HookRegistry(options);
}

class HookRegistry<Points extends AnyPoints<Points>> implements Hooks<Points> {
  readonly #options: HooksOptions<Points>;
  readonly #own: ReadonlySet<unknown>;
  readonly #limit: ReturnType<typeof createTimeLimit>;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: HooksOptions<Points>) {
    const { points, own = [], startTimer } = options;
    this.#options = options;
    this.#own = new Set(own);
    this.#limit = createTimeLimit(startTimer);
    for (const { point } of this.#all())
      if (!Object.hasOwn(points, point))
        throw new TypeError(`there is no hook point ${JSON.stringify(String(point))}`);
  }

  observe<Name extends PointOf<Points, "observe">>(point: Name, payload: Payload<Points, Name>): void {
    for (const hook of this.#at(point)) {
      const seen = this.#call(hook, payload, OBSERVE_MS).then(
        () => {},
        (error: unknown) => this.#failed(hook, error, "ignored"),
      );
      this.#underWay.add(seen);
      void seen.finally(() => this.#underWay.delete(seen));
    }
  }

  async modify<Name extends PointOf<Points, "modify">>(
    point: Name,
    payload: Payload<Points, Name>,
  ): Promise<Payload<Points, Name>> {
    let current = payload;
    for (const hook of this.#at(point)) {
      try {
        const change = await this.#call(hook, current, DECIDE_MS);
        if (change !== undefined) current = await this.#changed(point, current, change);
      } catch (error) {
        this.#failed(hook, error, "skipped");
      }
    }
    return current;
  }

  async check<Name extends PointOf<Points, "block">>(
    point: Name,
    payload: Payload<Points, Name>,
  ): Promise<BlockResult<Payload<Points, Name>>> {
    let current = payload;
    for (const hook of this.#at(point)) {
      try {
        const verdict = toVerdict(await this.#call(hook, current, DECIDE_MS));
        if (verdict.action === "deny") return verdict;
        if (verdict.change !== undefined) current = await this.#changed(point, current, verdict.change);
      } catch (error) {
        this.#failed(hook, error, "denied");
        return { action: "deny", reason: `The check ${hook.name} failed.` };
      }
    }
    return { action: "allow", payload: current, changed: current !== payload };
  }

  has(point: keyof Points): boolean {
    return this.#at(point).length > 0;
  }

  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #at(point: keyof Points): readonly UncheckedHook[] {
    return this.#all().filter((hook) => hook.point === point);
  }

  #all(): readonly UncheckedHook[] {
    const { own = [], unchecked, hooks } = this.#options;
    return [...own, ...(unchecked?.() ?? []), ...hooks];
  }

  #call(hook: UncheckedHook, payload: object, defaultMs: number): Promise<unknown> {
    return this.#limit<unknown>(hook.timeoutMs ?? defaultMs, async (signal) =>
      hook.run(this.#own.has(hook) ? payload : frozenCopy(payload), signal),
    );
  }

  async #changed<Name extends keyof Points>(
    point: Name,
    payload: Payload<Points, Name>,
    change: unknown,
  ): Promise<Payload<Points, Name>> {
    const definition: { readonly kind: string; readonly change?: StandardSchemaV1<unknown, object> } =
      this.#options.points[point];
    const checked = await definition.change?.["~standard"].validate(change);
    if (checked === undefined) return payload;
    if (checked.issues === undefined) return { ...payload, ...checked.value };
    const issues = checked.issues.map(({ message, path = [] }) => [...path.map(toKey), message].join(": "));
    throw new Error(`it returned an invalid result: ${issues.join("; ")}`);
  }

  #failed({ name, point }: UncheckedHook, error: unknown, consequence: HookFailure["consequence"]): void {
    this.#options.onFailure({ hook: name, point: String(point), error, consequence });
  }
}

/** Treats every unknown verdict as a denial, because hooks may be untyped. */
function toVerdict(
  returned: unknown,
):
  | { readonly action: "allow"; readonly change?: unknown }
  | { readonly action: "deny"; readonly reason: string } {
  if (returned === undefined) return { action: "allow" };
  const { action, change, reason }: { action?: unknown; change?: unknown; reason?: unknown } =
    typeof returned === "object" && returned !== null ? returned : {};
  if (action === "allow") return { action, change };
  return { action: "deny", reason: typeof reason === "string" ? reason : "It was not allowed." };
}

function toKey(segment: PropertyKey | { readonly key: PropertyKey }): string {
  return String(typeof segment === "object" ? segment.key : segment);
}
