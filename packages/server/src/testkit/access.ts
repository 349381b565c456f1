import { deepEqual, equal } from "node:assert/strict";
import type { AccessStore, NamedToken, WebSession } from "../auth/index.ts";

/** The `test` function of a test runner such as Vitest. */
type Test = (name: string, run: () => Promise<void>) => void;

const token = (name: string, role: NamedToken["role"] = "member"): NamedToken => ({
  name,
  role,
  hash: `hash of ${name}`,
  createdAt: 1_000,
});
const session = (id: string, opened: Partial<WebSession> = {}): WebSession => ({
  id,
  tokenHash: "hash of a",
  createdAt: 1_000,
  usedAt: 1_000,
  ...opened,
});

const CHECKS: Readonly<Record<string, (store: AccessStore) => Promise<void>>> = {
  "finds a token by its hash and by its name, and lists tokens by name": async ({ tokens }) => {
    equal(await tokens.add(token("b", "owner")), true);
    equal(await tokens.add(token("a")), true);
    deepEqual(await tokens.find("hash of a"), token("a"));
    equal(await tokens.find("hash of c"), undefined);
    deepEqual(await tokens.named("b"), token("b", "owner"));
    equal(await tokens.named("hash of b"), undefined);
    deepEqual(
      (await tokens.list()).map(({ name, role }) => [name, role]),
      [
        ["a", "member"],
        ["b", "owner"],
      ],
    );
  },

  "rejects a second token with the same name": async ({ tokens }) => {
    await tokens.add(token("a"));
    equal(await tokens.add({ ...token("a"), hash: "another" }), false);
    equal(await tokens.find("another"), undefined);
  },

  "records the last use of a token": async ({ tokens }) => {
    await tokens.add(token("a"));
    await tokens.used("hash of a", 5_000);
    await tokens.used("of nobody", 5_000);
    deepEqual(await tokens.list(), [{ ...token("a"), usedAt: 5_000 }]);
  },

  "revokes a token with its sessions and no other's": async ({ tokens, sessions }) => {
    await tokens.add(token("a"));
    await sessions.open(session("1"));
    await sessions.open(session("2", { tokenHash: "hash of b" }));
    equal(await tokens.revoke("a"), true);
    equal(await tokens.revoke("a"), false);
    equal(await tokens.find("hash of a"), undefined);
    equal(await tokens.named("a"), undefined);
    equal(await sessions.find("1"), undefined);
    deepEqual(await sessions.find("2"), session("2", { tokenHash: "hash of b" }));
  },

  "keeps a session until it ends": async ({ sessions }) => {
    await sessions.open(session("1"));
    await sessions.open(session("2"));
    await sessions.used("1", 3_000);
    deepEqual(await sessions.find("1"), session("1", { usedAt: 3_000 }));
    await sessions.end("1");
    await sessions.end("1");
    equal(await sessions.find("1"), undefined);
    deepEqual(await sessions.find("2"), session("2"));
  },

  "forgets sessions that are idle or old": async ({ sessions }) => {
    await sessions.open(session("idle", { createdAt: 50, usedAt: 99 }));
    await sessions.open(session("old", { createdAt: 49, usedAt: 200 }));
    await sessions.open(session("good", { createdAt: 50, usedAt: 100 }));
    await sessions.forget(100, 50);
    equal(await sessions.find("idle"), undefined);
    equal(await sessions.find("old"), undefined);
    equal((await sessions.find("good"))?.id, "good");
  },
};

/**
 * Conformance suite for an {@link AccessStore}.
 *
 * @param open creates an empty store for one test
 */
export function accessConformance(test: Test, open: () => Promise<AccessStore>): void {
  for (const [name, check] of Object.entries(CHECKS)) test(name, async () => check(await open()));
}
