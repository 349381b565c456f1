import { afterAll, describe, expect, it } from "vitest";
import { runChannelConformance } from "../src/testkit/index.ts";
import { createPostbox, type Faults } from "./postbox.ts";

const sound = createPostbox();
runChannelConformance(sound.definition, sound.harness, { test: { describe, it, afterAll }, print: () => {} });

/** Runs the kit without a runner, and gives the tests that failed and the matrix. */
async function run(faults: Faults) {
  const { definition, harness } = createPostbox(faults);
  const tests: [string, () => Promise<void>][] = [];
  const last: (() => void)[] = [];
  let matrix = "";
  runChannelConformance(definition, harness, {
    test: {
      describe: (_name, body) => body(),
      it: (name, body) => void tests.push([name, body]),
      afterAll: (body) => void last.push(body),
    },
    print: (text) => {
      matrix = text;
    },
  });
  const failed: string[] = [];
  for (const [name, body] of tests) await body().catch(() => failed.push(name));
  for (const body of last) body();
  return { failed, matrix };
}

describe("the kit catches", () => {
  const planted: [keyof Faults, string][] = [
    ["acknowledgesEarly", "intake: acknowledges only after the message is accepted"],
    ["newEventIds", "intake: gives a repeated delivery the same event id and acknowledges it"],
    ["hidesBots", "intake: tells its own messages and other bots' from people's"],
    ["listensAfterStop", "intake: takes nothing after it was stopped"],
    ["ignoresStart", "sending: goes on at the part it is told"],
    ["takesAnyLength", "text: takes max − 1 and max, and refuses max + 1, in its unit"],
    ["sendsTwice", "failures: tells a failure from an open outcome, and repeats without a second message"],
    ["forgetsRetry", "failures: says that it is too fast, and until when"],
    ["tellsPassword", "failures: shows no secret in errors and logs"],
    ["claimsReactions", "definition: has a method for each capability, and none without"],
    ["addressesWithoutPrefix", "addresses: reads back what it wrote"],
    [
      "takesAnyFile",
      "attachments: refuses before it opens it what is too large, empty or of a kind it does not claim",
    ],
    ["cutsFiles", "attachments: sends each kind it claims, byte for byte and among texts in order"],
    ["sendsFilesTwice", "attachments: repeats an attachment without a second message"],
    ["leavesTimers", "lifecycle: starts and stops twenty times without leaving a handle"],
  ];
  for (const [fault, test] of planted) {
    it(`a channel that ${fault}`, async () => {
      const { failed, matrix } = await run({ [fault]: true });
      expect(failed).toContain(test);
      expect(matrix).toContain(`| ${test.replace(": ", " | ")} | ✗ |`);
    });
  }

  it("nothing in a sound one, and says why it left something out", async () => {
    const { failed, matrix } = await run({});
    expect(failed).toEqual([]);
    expect(matrix).toContain("| drafts | shows a draft as it grows, and finishes it once | – no drafts |");
  });

  it("a skip that names no test", () => {
    const skip = [{ test: "flies", reason: "no wings" }];
    const test = { describe: () => {}, it: () => {}, afterAll: () => {} };
    expect(() => runChannelConformance(sound.definition, sound.harness, { test, skip })).toThrow("flies");
  });
});
