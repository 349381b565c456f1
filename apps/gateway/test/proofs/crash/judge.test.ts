import { describe, expect, it } from "vitest";
import { again, BREACHES, RELAYED, rowsWith, tagOf, without, withPosts } from "./breaches.ts";
import { sideText } from "./conversation.ts";
import type { Evidence, Post } from "./evidence.ts";
import { judge } from "./judge.ts";
import { cleanWorld, postOf, relayedWorld, requestOf, resultOf } from "./made-up.ts";

describe("the judge of a world", () => {
  it("finds no fault if every promise was kept", () => {
    expect(judge(cleanWorld()).violations).toEqual([]);
    expect(judge(relayedWorld()).violations).toEqual([]);
  });

  it("accepts a call with an unknown outcome, and a message that was given up with a notice", () => {
    const world = cleanWorld();
    const excused = {
      ran: [],
      requests: [resultOf(world.tags, tagOf(world, 4), "Outcome unknown: the gateway was restarted")],
    };
    expect(judge({ ...world, ...excused }).violations).toEqual([]);
    const posts = world.posts.map((post) =>
      post.content.includes("done s0.1")
        ? postOf(tagOf(world, 1), "Your message made me stop, so I set it aside.")
        : post,
    );
    const inbox = rowsWith(world, "s0.1", { state: "failed-reported", rule: "poison" });
    expect(judge({ ...world, ...withPosts(posts), inbox }).violations).toEqual([]);
    // Under whose attachments it was, that one the model was never told of.
    const requests = [requestOf(world.tags.slice(1))];
    expect(judge({ ...world, ...withPosts(posts), inbox, requests }).violations).toEqual([]);
  });

  it("accepts one draft without a key for each interruption, and no more", () => {
    const world = cleanWorld();
    const posts = [
      ...world.posts,
      postOf(tagOf(world, 1), "done s0.1", { channel: "slack", messageId: "left" }),
    ];
    expectBlame({ ...world, posts, breaks: 1 }, []);
    expectBlame({ ...world, posts, breaks: 0 }, [/^draft: 1 were left on slack/]);
  });

  it("accepts a draft whose key the platform has forgotten, and no other draft with a key", () => {
    const world = cleanWorld();
    const posts = [...world.posts, postOf(tagOf(world, 1), "on it", { key: "d-1.0", messageId: "left" })];
    const reply = { state: "sent", channel: "feishu", texts: [], receipts: [] };
    const withDraft = (key: string) => [...world.outbox, { ...reply, forgottenDraft: key }];
    expectBlame({ ...world, posts, outbox: withDraft("d-1"), breaks: 1 }, []);
    expectBlame({ ...world, posts, outbox: withDraft("d-2"), breaks: 1 }, [/^draft: nobody's/]);
  });

  it("accepts one repeated answer for a message that a newer one interrupted, and no more", () => {
    const world = cleanWorld();
    const said = (times: number): Partial<Evidence> =>
      withPosts(
        world.posts.flatMap((post) =>
          post.content.includes(sideText("s0.5"))
            ? Array.from({ length: times }, (_, n) => again(post, { key: `${n}`, messageId: `${n}` })).flat()
            : post,
        ),
      );
    const inbox = rowsWith(world, "s0.5", { state: "silent", rule: "stopped" });
    const gaveWay = (times: number): Evidence => ({ ...world, ...said(times), inbox, mode: "interrupt" });
    expectBlame(gaveWay(2), []);
    expectBlame(gaveWay(3), [/^blind: s0\.5 .* was said 3 times/]);
    expectBlame({ ...gaveWay(2), mode: "followup" }, [/^blind: s0\.5 .* was said 2 times/, /s0\.5/]);
  });

  it.each([
    ["fault", "the failpoint tool.before"],
    ["full disk", "[stopped: it wrote too much to the disk, or the disk is nearly full]"],
  ])("excuses what fails because a call before it met a %s", (_, told) => {
    const world = cleanWorld();
    const requests = [resultOf(world.tags, tagOf(world, 2), told, "There is no file notes/s0.2.txt.")];
    expect(judge({ ...world, requests, notes: new Set() }).violations).toEqual([]);
  });

  it.each(BREACHES)("blames %s, and nothing else", (_, breach, blame) => {
    const world = cleanWorld();
    expectBlame({ ...world, ...breach(world) }, blame);
  });

  it.each(RELAYED)("blames %s, and nothing else", (_, breach, blame) => {
    const world = relayedWorld();
    expectBlame({ ...world, ...breach(world) }, blame);
  });
});

function expectBlame(evidence: Evidence, blame: readonly RegExp[]): void {
  const { violations } = judge(evidence);
  expect(violations.filter((text) => !blame.some((one) => one.test(text)))).toEqual([]);
  expect(blame.filter((one) => !violations.some((text) => one.test(text)))).toEqual([]);
}

it.each(["echo", "retract"] as const)("takes what a tool has said for the answer: %s", (said) => {
  const world = cleanWorld(said);
  const word = sideText("s0.5");
  const unsaid = without(world, word);
  const doubtful = { state: "uncertain", channel: "blunt", texts: [word], receipts: [] };
  expect(judge(world).violations).toEqual([]);
  expect(judge({ ...world, ...unsaid }).violations[0]).toMatch(/^lost: s0\.5 .* has no reply/);
  expect(judge({ ...world, ...unsaid, outbox: [...(unsaid.outbox ?? []), doubtful] }).violations).toEqual([]);
});

it("requires each answer exactly once on the page too, which has no outbox", () => {
  const world = cleanWorld();
  const posts = world.posts.map((post) => ({ ...post, channel: "web" }));
  const verdict = (there: readonly Post[]) => judge({ ...world, posts: there, outbox: [] }).violations;
  expect(verdict(posts)).toEqual([]);
  expect(verdict(posts.slice(1))).toEqual([expect.stringMatching(/^lost: s0\.1 /)]);
  expect(verdict([...posts, ...again(posts[0], { key: "2", messageId: "2" })])).toEqual(
    expect.arrayContaining([expect.stringMatching(/^duplicate: s0\.1 was answered 2 times/)]),
  );
});
