import { describe, expect, it } from "vitest";
import { nameOf, type Tag } from "./conversation.ts";
import type { Evidence } from "./evidence.ts";
import { judge } from "./judge.ts";
import { cleanWorld, requestOf, resultOf } from "./made-up.ts";

const NAME = "s0.4";
const RAN = ["background s0.4", "heard s0.4"];

/** A world in which the fourth message had a command started in the background, and what its model was told last. */
function worldWith(
  told: { readonly isError: boolean; readonly text: string },
  ran: readonly string[],
): Evidence {
  const world = cleanWorld();
  const tags = world.tags.map((tag): Tag => (nameOf(tag) === NAME ? { ...tag, kind: "background" } : tag));
  const [tag] = tags.filter((each) => nameOf(each) === NAME);
  if (tag === undefined) throw new RangeError(`no message ${NAME}`);
  const requests = tags.map((_, index) => requestOf(tags.slice(0, index + 1)));
  const last = told.isError ? resultOf(tags, tag, told.text) : endedWell(resultOf(tags, tag, told.text));
  return { ...world, acknowledged: tags, requests: [...requests, last], ran };
}

function endedWell({ body, ...request }: Evidence["requests"][number]): Evidence["requests"][number] {
  return {
    ...request,
    body: JSON.parse(JSON.stringify(body).replaceAll('"is_error":true', '"is_error":false')),
  };
}

const ENDED = { isError: false, text: "[p1a ends: it has ended]\n[p1a has ended: exit code 0]" };
const GONE = { isError: true, text: "There is no command p1a in the background of this conversation." };
const UNKNOWN = { isError: true, text: "Outcome unknown: the process was restarted while this call ran." };
const AWAY = { isError: true, text: "The database server cannot be reached (connect ECONNREFUSED)." };
const OTHER = { isError: true, text: "EACCES" };

describe("a background command, in the judgment", () => {
  it.each([
    ["was given its word and ended", ENDED, RAN],
    ["ended with its process", GONE, RAN.slice(0, 1)],
    ["ended with its process before it did anything", GONE, []],
    ["may have been started", UNKNOWN, []],
    ["could not be started because the database was down", AWAY, []],
  ])("is right where it %s", (_, told, ran) => {
    expect(judge(worldWith(told, ran)).violations).toEqual([]);
  });

  it.each([
    ["was started again", ENDED, [...RAN, "background s0.4"], /^blind: the command of s0\.4 ran 2 times/],
    ["was given its word again", ENDED, [...RAN, "heard s0.4"], /^blind: .* was given its word 2 times/],
    ["was started again where nobody knew", UNKNOWN, [...RAN, "background s0.4"], /^blind: .* ran 2 times/],
    ["ended and did nothing", ENDED, [], /^lost: the command of s0\.4, which ended well, did nothing/],
    ["could not be read from", OTHER, RAN, /^failed: a tool of s0\.4: EACCES/],
  ])("is blamed where it %s", (_, told, ran, blame) => {
    expect(judge(worldWith(told, ran)).violations).toEqual([expect.stringMatching(blame)]);
  });
});

describe("a stopped command, in the judgment", () => {
  const world = cleanWorld();
  const [tag] = world.tags.filter(({ kind }) => kind === "exec");
  if (tag === undefined) throw new RangeError("no message has a command");
  const stopped: Evidence = {
    ...world,
    ran: [],
    requests: [...world.requests, resultOf(world.tags, tag, "[stopped before it finished]")],
  };

  it("gave way to a newer message", () => {
    expect(judge({ ...stopped, mode: "interrupt" }).violations).toEqual([]);
  });

  it("is a fault if nothing interrupted it", () => {
    expect(judge(stopped).violations).toEqual([
      expect.stringMatching(/^failed: a tool of s0\.4/),
      expect.stringMatching(/^lost: the command of s0\.4 did not run/),
    ]);
  });
});
