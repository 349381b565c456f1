import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestRoute } from "./digest.ts";
import type { RouteInput } from "./types.ts";

describe("digestRoute", () => {
  // Ids that look like JSON, because the digest hashes JSON.
  const id = fc
    .array(fc.constantFrom("1", '"', ",", "null", "[", "]", "\\", "\ud800", "direct"), { maxLength: 3 })
    .map((parts) => parts.join(""));
  const kind = fc.constantFrom("direct" as const, "group" as const);
  const peer = fc.record({ kind, id });
  const input: fc.Arbitrary<RouteInput> = fc.record(
    {
      channel: id,
      account: id,
      peer,
      parentPeer: peer,
      guildId: id,
      teamId: id,
      threadId: id,
      roles: fc.array(id, { minLength: 1, maxLength: 2 }),
      otherPeerIds: fc.array(id, { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ["channel", "account", "peer"] },
  );

  it("differs if messages differ in one field", () => {
    fc.assert(
      fc.property(input, input, fc.nat(8), (a, other, pick) => {
        const field = (
          [
            ...["channel", "account", "peer", "parentPeer", "guildId", "teamId", "threadId"],
            ...["roles", "otherPeerIds"],
          ] as (keyof RouteInput)[]
        )[pick];
        const b = { ...a, ...(field === undefined ? {} : { [field]: other[field] }) };
        expect(digestRoute("", b) === digestRoute("", a)).toBe(plain(b) === plain(a));
      }),
      { numRuns: 3_000 },
    );
  });

  it("differs if messages differ", () => {
    const seen = new Map<string, string>();
    fc.assert(
      fc.property(input, (input) => {
        const key = digestRoute("", input);
        expect(seen.get(key) ?? plain(input)).toBe(plain(input));
        seen.set(key, plain(input));
      }),
      { numRuns: 5_000 },
    );
  });
});

/** Returns the fields in a fixed order, without undefined ones. */
function plain(input: RouteInput): string {
  const { channel, account, peer, otherPeerIds = [], parentPeer, guildId, teamId, threadId, roles } = input;
  const parent = parentPeer && [parentPeer.kind, parentPeer.id];
  return JSON.stringify({
    channel,
    account,
    peer: [peer.kind, peer.id, ...otherPeerIds],
    parent,
    guildId,
    teamId,
    threadId,
    roles,
  });
}
