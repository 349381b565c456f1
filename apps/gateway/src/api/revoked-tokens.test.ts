import { createTokenSenderId } from "@signalbox/routing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { watchRevokedTokens } from "./revoked-tokens.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const [ALICE, BOB] = [`api:${createTokenSenderId("alice")}`, `api:${createTokenSenderId("bob")}`];

const isAuthenticated = (channel: string): boolean => channel === "api";

it("has what goes on for the holder of a revoked token end, and for nobody else", async () => {
  let names = ["alice", "bob"];
  const ended: string[][] = [];
  const stop = watchRevokedTokens({
    isAuthenticated,
    tokens: async () => names.map((name) => ({ name })),
    end: async (isRevoked) =>
      void ended.push([ALICE, BOB, "feishu:ou_1", `other:${createTokenSenderId("alice")}`].filter(isRevoked)),
    logger: { warn: () => expect.unreachable() },
  });
  await vi.advanceTimersByTimeAsync(5_000);
  names = ["bob"];
  await vi.advanceTimersByTimeAsync(5_000);
  stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ended).toEqual([[], [ALICE]]);
});

it("looks again where it could not", async () => {
  let looks = 0;
  const warned: string[] = [];
  const stop = watchRevokedTokens({
    isAuthenticated,
    async tokens() {
      looks += 1;
      if (looks === 1) throw new Error("the disk is gone");
      return [];
    },
    end: async () => {},
    logger: { warn: (_, message) => warned.push(message) },
  });
  await vi.advanceTimersByTimeAsync(10_000);
  stop();
  expect([looks, warned]).toEqual([2, ["could not check for revoked tokens"]]);
});
