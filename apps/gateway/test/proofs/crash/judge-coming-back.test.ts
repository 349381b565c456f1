import { describe, expect, it } from "vitest";
import { effectOf, heardText, nameOf, type Tag } from "./conversation.ts";
import type { ComingBack, Evidence } from "./evidence.ts";
import { judge } from "./judge.ts";
import { cleanWorld, postOf, requestOf, resultOf, rowsOf } from "./made-up.ts";
import { messageId } from "./platform.ts";

const SCHEDULE: Tag = { session: 2, number: 1, kind: "schedule" };
const DELEGATE: Tag = { session: 4, number: 1, kind: "delegate" };
const ENTER: Tag = { session: 3, number: 1, kind: "enter" };
const TAGS = [SCHEDULE, DELEGATE, ENTER];

function cameBack(kind: ComingBack["kind"], tag: Tag): ComingBack {
  return { kind, name: nameOf(tag), eventId: `${kind} of ${nameOf(tag)}`, state: "replied", rule: undefined };
}

/** A world in which every promise was kept about what comes back by itself, and about a server of tools. */
function laterWorld(): Evidence {
  const heard = [
    postOf(SCHEDULE, heardText("wake", nameOf(SCHEDULE)), { replyTo: undefined }),
    postOf(DELEGATE, heardText("report", nameOf(DELEGATE)), { replyTo: undefined }),
  ];
  const posts = [...TAGS.map((tag) => postOf(tag, `done ${nameOf(tag)}`)), ...heard];
  return {
    ...cleanWorld(),
    acknowledged: TAGS,
    unaddressed: [],
    inbox: TAGS.map((tag) => ({
      kind: "message",
      eventId: `ev ${nameOf(tag)}`,
      messageId: messageId(nameOf(tag)),
      state: "replied",
      revision: 0,
    })),
    comingBack: [cameBack("wake", SCHEDULE), cameBack("task", DELEGATE), cameBack("report", DELEGATE)],
    posts,
    outbox: rowsOf(posts),
    requests: TAGS.map((tag) => requestOf([tag])),
    ran: [effectOf("delegate", nameOf(DELEGATE)), effectOf("enter", nameOf(ENTER))],
    notes: new Set(),
  };
}

const withPosts = (posts: Evidence["posts"]): Partial<Evidence> => ({ posts, outbox: rowsOf(posts) });
const without = ({ posts }: Evidence, text: string): Partial<Evidence> =>
  withPosts(posts.filter(({ content }) => !content.includes(text)));
const again = ({ posts }: Evidence, tag: Tag, text: string): Partial<Evidence> =>
  withPosts([...posts, postOf(tag, text, { key: "again", messageId: "again", replyTo: undefined })]);
const came = ({ comingBack }: Evidence, kind: string, change: Partial<ComingBack>): Partial<Evidence> => ({
  comingBack: comingBack.map((each) => (each.kind === kind ? { ...each, ...change } : each)),
});
const notCame = ({ comingBack }: Evidence, ...kinds: string[]): Partial<Evidence> => ({
  comingBack: comingBack.filter(({ kind }) => !kinds.includes(kind)),
});

describe("schedules and sub-agents", () => {
  it("are correct if each message came once and was read once", () => {
    expect(judge(laterWorld()).violations).toEqual([]);
  });

  it.each<[name: string, breach: (world: Evidence) => Partial<Evidence>, blame: RegExp]>([
    ["a schedule that is lost", (world) => notCame(world, "wake"), /^lost: the wake of s2\.1 did not come$/],
    [
      "a schedule that comes twice",
      ({ comingBack }) => ({ comingBack: [...comingBack, cameBack("wake", SCHEDULE)] }),
      /^twice: the wake of s2\.1 came 2 times$/,
    ],
    [
      "one without an end",
      (world) => came(world, "wake", { state: "queued" }),
      /^open: the wake of s2\.1 is queued/,
    ],
    [
      "one that is not answered",
      (world) => without(world, "heard wake"),
      /^lost: the wake of s2\.1, .* not answered$/,
    ],
    [
      "one that is answered twice",
      (world) => again(world, SCHEDULE, heardText("wake", "s2.1")),
      /^duplicate: the wake of s2\.1 was answered 2 times$/,
    ],
    [
      "a task that is lost",
      (world) => notCame(world, "task", "report"),
      /^lost: the task of s4\.1 did not come$/,
    ],
    [
      "a report that is lost",
      (world) => notCame(world, "report"),
      /^lost: the report of s4\.1 did not come$/,
    ],
    [
      "a sub-agent whose command runs twice",
      ({ ran }) => ({ ran: [...ran, effectOf("delegate", "s4.1")] }),
      /^blind: the command of s4\.1 ran 2 times$/,
    ],
    [
      "a task that is not done",
      () => ({ ran: [effectOf("enter", "s3.1")] }),
      /^lost: the task of s4\.1, .* not done$/,
    ],
    [
      "a server's tool that is called twice",
      ({ ran }) => ({ ran: [...ran, effectOf("enter", "s3.1")] }),
      /^blind: the command of s3\.1 ran 2 times$/,
    ],
    [
      "a server's tool that is said to have run",
      ({ ran }) => ({ ran: ran.filter((line) => !line.startsWith("enter")) }),
      /^lost: the command of s3\.1 did not run$/,
    ],
  ])("blames %s, and nothing else", (_, breach, blame) => {
    const world = laterWorld();
    expect(judge({ ...world, ...breach(world) }).violations).toEqual([expect.stringMatching(blame)]);
  });

  it("are not required if a fault prevented the request, or if its message was given up", () => {
    const world = laterWorld();
    const quiet = { ...without(world, "heard wake"), ...notCame(world, "wake") };
    const requests = [resultOf([SCHEDULE], SCHEDULE, "the failpoint tool.before")];
    expect(judge({ ...world, ...quiet, requests }).violations).toEqual([]);
    const unheard = { ...without(world, "heard wake"), ...came(world, "wake", { rule: "poison" }) };
    expect(judge({ ...world, ...unheard }).violations).toEqual([]);
  });
});
