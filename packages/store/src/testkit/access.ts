import type { AccessToken, WebSession } from "../types/access.ts";
import { type Checks, expectEqual } from "./under-test.ts";

const token = (name: string, role: AccessToken["role"] = "member"): AccessToken => ({
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

export const accessChecks: Checks = {
  "finds a token by hash and by name, and lists tokens by name": async ({ store: { access } }) => {
    const { tokens } = access;
    expectEqual(await tokens.add(token("b", "owner")), true, "A token with a new name was not added.");
    expectEqual(await tokens.add(token("a")), true, "A second token was not added.");
    expectEqual(await tokens.find("hash of a"), token("a"), "A token was not found by its hash.");
    expectEqual(await tokens.find("hash of c"), undefined, "A token was found by an unknown hash.");
    expectEqual(await tokens.named("b"), token("b", "owner"), "A token was not found by its name.");
    expectEqual(await tokens.named("hash of b"), undefined, "A hash was accepted as a name.");
    const listed = (await tokens.list()).map(({ name, role }) => [name, role]);
    const expected = [
      ["a", "member"],
      ["b", "owner"],
    ];
    expectEqual(listed, expected, "The list of tokens is not sorted by name.");
  },

  "rejects a second token with the same name": async ({ store: { access } }) => {
    const { tokens } = access;
    await tokens.add(token("a"));
    const isAdded = await tokens.add({ ...token("a"), hash: "another" });
    expectEqual(isAdded, false, "A second token with the same name was added.");
    expectEqual(await tokens.find("another"), undefined, "The rejected token can be found.");
  },

  "records when a token was last used": async ({ store: { access } }) => {
    const { tokens } = access;
    await tokens.add(token("a"));
    await tokens.used("hash of a", 5_000);
    await tokens.used("unknown hash", 5_000);
    expectEqual(await tokens.list(), [{ ...token("a"), usedAt: 5_000 }], "The time of use is wrong.");
  },

  "changes the role of one token": async ({ store: { access } }) => {
    const { tokens } = access;
    await tokens.add(token("a"));
    await tokens.add(token("b"));
    await tokens.setRole("hash of a", "operator");
    await tokens.setRole("unknown hash", "owner");
    expectEqual(await tokens.find("hash of a"), token("a", "operator"), "The role was not changed.");
    expectEqual(await tokens.find("hash of b"), token("b"), "The role of another token was changed.");
  },

  "lists the sessions, the latest use first": async ({ store: { access } }) => {
    const { sessions } = access;
    expectEqual(await sessions.list(), [], "A session was listed although none is open.");
    await sessions.open(session("1", { usedAt: 2_000 }));
    await sessions.open(session("2", { usedAt: 3_000 }));
    await sessions.open(session("3"));
    await sessions.end("3");
    const expected = [session("2", { usedAt: 3_000 }), session("1", { usedAt: 2_000 })];
    expectEqual(await sessions.list(), expected, "The list of sessions is wrong.");
  },

  "revokes a token together with its sessions only": async ({ store: { access } }) => {
    const { tokens, sessions } = access;
    await tokens.add(token("a"));
    await sessions.open(session("1"));
    await sessions.open(session("2", { tokenHash: "hash of b" }));
    expectEqual(await tokens.revoke("a"), true, "An existing token was not revoked.");
    expectEqual(await tokens.revoke("a"), false, "A token was revoked twice.");
    expectEqual(await tokens.find("hash of a"), undefined, "A revoked token can be found by its hash.");
    expectEqual(await tokens.named("a"), undefined, "A revoked token can be found by its name.");
    expectEqual(await sessions.find("1"), undefined, "A session of a revoked token is still open.");
    const other = session("2", { tokenHash: "hash of b" });
    expectEqual(await sessions.find("2"), other, "A session of another token was closed.");
  },

  "keeps a session until it ends": async ({ store: { access } }) => {
    const { sessions } = access;
    await sessions.open(session("1"));
    await sessions.open(session("2"));
    await sessions.used("1", 3_000);
    expectEqual(await sessions.find("1"), session("1", { usedAt: 3_000 }), "The time of use is wrong.");
    await sessions.end("1");
    await sessions.end("1");
    expectEqual(await sessions.find("1"), undefined, "A session can be found after its end.");
    expectEqual(await sessions.find("2"), session("2"), "Another session ended too.");
  },

  "removes idle and old sessions": async ({ store: { access } }) => {
    const { sessions } = access;
    await sessions.open(session("idle", { createdAt: 50, usedAt: 99 }));
    await sessions.open(session("old", { createdAt: 49, usedAt: 200 }));
    await sessions.open(session("good", { createdAt: 50, usedAt: 100 }));
    await sessions.forget(100, 50);
    expectEqual(await sessions.find("idle"), undefined, "A session last used before the limit remains.");
    expectEqual(await sessions.find("old"), undefined, "A session opened before the limit remains.");
    expectEqual((await sessions.find("good"))?.id, "good", "A session within both limits was removed.");
  },
};
