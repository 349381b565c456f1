import type { Store } from "../../types/store.ts";
import type { Test } from "../under-test.ts";

/** Assertions about a value, as Vitest, Jest and Bun have them. */
interface Matchers {
  readonly not: Matchers;
  readonly rejects: RejectionMatchers;
  toBe(expected: unknown): void;
  toBeDefined(): void;
  toBeGreaterThan(expected: number): void;
  toBeGreaterThanOrEqual(expected: number): void;
  toBeLessThan(expected: number): void;
  toBeUndefined(): void;
  toContain(expected: string): void;
  toEqual(expected: unknown): void;
  toHaveLength(expected: number): void;
  toHaveProperty(name: string): void;
  toMatch(expected: RegExp): void;
  toMatchObject(expected: object): void;
  toStrictEqual(expected: unknown): void;
}

interface RejectionMatchers {
  toBeInstanceOf(expected: new (...args: never) => Error): Promise<void>;
  toMatchObject(expected: object): Promise<void>;
  toThrow(expected: string): Promise<void>;
}

/** The `expect` function of a runner. */
interface Expect {
  (actual: unknown): Matchers;
  any(type: unknown): unknown;
}

/** Options of a store that the tests set. */
interface SuiteStoreOptions {
  readonly limits?: { readonly inbox?: number };
}

/** What the tests of a store need. */
export interface SuiteRunner {
  readonly test: Test;
  readonly expect: Expect;
  /**
   * Opens an empty store whose clock shows `time.now`, noon of 21 November 2026 (UTC) at first. The store is closed
   * after the test.
   */
  open(options?: SuiteStoreOptions): Promise<{ readonly store: Store; readonly time: { now: number } }>;
}

/** Declares the tests of one part of the store. */
export type Suite = (runner: SuiteRunner) => void;
