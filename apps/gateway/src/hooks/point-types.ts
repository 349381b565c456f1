import type { StandardSchemaV1 } from "@standard-schema/spec";

/** A point at which hooks observe. */
export interface Observed<Payload> {
  readonly kind: "observe";
  readonly payload: Payload;
}

/** A point at which hooks change some properties of the payload, one hook after the other. */
export interface Modified<Payload, Changes extends keyof Payload> {
  readonly kind: "modify";
  readonly payload: Payload;
  readonly change: Partial<Pick<Payload, Changes>>;
}

/** A point at which hooks allow or deny an operation and may change some properties of the payload. */
export interface Blocking<Payload, Changes extends keyof Payload = never> {
  readonly kind: "block";
  readonly payload: Payload;
  readonly change: Partial<Pick<Payload, Changes>>;
}

type AnyPoint =
  | { readonly kind: "observe"; readonly payload: object }
  | { readonly kind: "modify" | "block"; readonly payload: object; readonly change: object };

/** The points of a host by name. Each is `Observed`, `Modified` or `Blocking`. */
export type AnyPoints<Points> = { readonly [Name in keyof Points]: AnyPoint };

/** Names of the points of a kind. */
export type PointOf<Points extends AnyPoints<Points>, Kind extends AnyPoint["kind"]> = {
  [Name in keyof Points]: Points[Name]["kind"] extends Kind ? Name : never;
}[keyof Points];

export type Payload<Points extends AnyPoints<Points>, Name extends keyof Points> = Points[Name]["payload"];

type Change<Point> = Point extends { readonly change: infer Made } ? Made : never;

/** Runtime definition of a point: its kind and the fields that hooks may change. Other returned fields are ignored. */
type PointDefinition<Point extends AnyPoint> = Point["kind"] extends "observe"
  ? { readonly kind: "observe" }
  : { readonly kind: Point["kind"]; readonly change: StandardSchemaV1<unknown, Change<Point>> };

export type PointDefinitions<Points extends AnyPoints<Points>> = {
  readonly [Name in keyof Points]: PointDefinition<Points[Name]>;
};

type Awaitable<T> = T | Promise<T>;

/** Verdict of a blocking hook. No return value means `allow`. */
type BlockVerdict<Made = object> =
  | { readonly action: "allow"; readonly change?: Made }
  | { readonly action: "deny"; readonly reason: string };

/** Return type of a hook, by the kind of its point. */
type Returned<Point extends AnyPoint> = Point["kind"] extends "observe"
  ? Awaitable<void>
  : Point["kind"] extends "modify"
    ? Awaitable<Change<Point> | undefined>
    : Awaitable<BlockVerdict<Change<Point>> | undefined>;

/** A hook at one point. */
interface HookAt<Points extends AnyPoints<Points>, Name extends keyof Points> {
  readonly point: Name;
  /** Name of the hook in the log. */
  readonly name: string;
  /** Time limit in milliseconds. Default: 5,000 for observers, 2,000 for other hooks. */
  readonly timeoutMs?: number;
  /**
   * @param payload a frozen copy
   * @param signal aborted when the time limit expires
   */
  run(payload: Payload<Points, Name>, signal: AbortSignal): Returned<Points[Name]>;
}

/**
 * A hook without checked types, such as a configured one. Its return value is validated like that of any other hook.
 */
export interface UncheckedHook {
  readonly point: PropertyKey;
  readonly name: string;
  readonly timeoutMs?: number;
  run(payload: object, signal: AbortSignal): unknown;
}

/** A hook at any point. */
export type Hook<Points extends AnyPoints<Points>> = {
  [Name in keyof Points]: HookAt<Points, Name>;
}[keyof Points];
