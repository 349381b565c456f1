import type { QueueMode } from "@signalbox/lanes";
import type { Kind } from "../crash/conversation.ts";
import type { Failpoint } from "../crash/failpoints.ts";
import type { Life, Passing } from "../crash/lives.ts";

/** A text of a built file and what stands in its place. */
export interface Edit {
  /** From the root of the repository. */
  readonly file: string;
  /** Occurs exactly once. */
  readonly from: string;
  readonly to: string;
}

/** What a gateway goes through. */
export interface Scenario {
  /** `takeover`: another process takes its lease while it is stopped. */
  readonly course: readonly Life[] | "takeover";
  /** Where the store of the last process fails. */
  readonly failing?: readonly Passing[];
  /** How long the last process works under load, in milliseconds. */
  readonly loadMs?: number;
  /** Minimum number of messages that the last process acknowledges under load. */
  readonly minMessages?: number;
  readonly mode?: QueueMode;
  /** Whether the platforms fail now and then. Default: false. */
  readonly faults?: boolean;
  /** What people write to the relays. */
  readonly only?: readonly [Kind, ...Kind[]];
}

/** A bug that breaks a promise. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  readonly scenario: Scenario;
  /** What has to be said of it. */
  readonly caughtBy: RegExp;
  /** Is over so soon that every test run plants it. */
  readonly quick?: boolean;
}

const GATEWAY = "apps/gateway/src";
const STORE = "packages/store/src";
const DELIVERY = "packages/delivery/src";
const RUNS = "packages/runs/src";
const TOOLS = "packages/tools/src";

const killedAt = (...points: readonly Failpoint[]): Life[] =>
  points.map((point, index) => ({ kind: "killed-at", point, count: 1 + (index % 3) }));
const laterAt = (point: Failpoint, ...counts: readonly number[]): Life[] =>
  counts.map((count) => ({ kind: "killed-at", point, count }));
const times = (count: number, point: Failpoint): Failpoint[] => Array.from({ length: count }, () => point);

const quiet = { course: [], loadMs: 2_000 } as const satisfies Scenario;

export const MUTANTS: readonly Mutant[] = [
  {
    name: "acknowledges before the commit",
    edits: [
      {
        file: `${GATEWAY}/pipeline/pipeline.ts`,
        from: 'const outcome = await metrics.timed("accept", () => accept(ctx, received, admitted));',
        to: 'const late = accept(ctx, received, admitted); void late.then((one) => one.outcome === "accepted" && enter(ctx, one.accepted, one.isOurs)).catch(() => {}); if (late) return { outcome: "accepted" }; const outcome = await late;',
      },
    ],
    scenario: {
      course: [],
      // So many that some lost messages are not delivered again: at the start a channel reads the messages that it
      // missed, and now and then a platform delivers an event twice.
      failing: Array.from({ length: 12 }, (_, index) => ({ point: "accept.before", count: 12 + 3 * index })),
      loadMs: 500,
      minMessages: 50,
      only: ["plain"],
    },
    caughtBy: /^lost: .* is not in the inbox/,
    quick: true,
  },
  {
    name: "takes what is delivered again",
    edits: [{ file: `${STORE}/inbox-accept.ts`, from: "if (seen !== undefined) {", to: "if (false) {" }],
    scenario: quiet,
    caughtBy: /^(twice|duplicate):/,
  },
  {
    name: "stores no deduplication keys",
    edits: [
      {
        file: `${STORE}/dedupe.ts`,
        from: "for (const { hash: key } of keys)",
        to: "for (const { hash: key } of keys.slice(2))",
      },
    ],
    scenario: { course: killedAt(...times(4, "emit.after")) },
    caughtBy: /^(twice|duplicate):/,
  },
  {
    name: "goes on with a run whose lease is lost",
    edits: [
      {
        file: `${STORE}/leases.ts`,
        from: "if (held?.epoch === epoch) return;",
        to: "if (held) return;",
      },
      {
        file: `${STORE}/run-rows.ts`,
        from: "if (!isSameLease(lease, stampOf(record))) {",
        to: "if (false) {",
      },
    ],
    scenario: { course: "takeover", mode: "followup" },
    caughtBy: /^fence:/,
  },
  {
    name: "runs a tool with outside effects again blindly",
    edits: [
      {
        file: `${RUNS}/pending-calls.ts`,
        from: 'return own.state === "started" && isExternal',
        to: "return false && isExternal",
      },
    ],
    scenario: { course: killedAt(...times(6, "tool.after")), mode: "followup", only: ["exec"] },
    caughtBy: /^blind: the command/,
  },
  {
    name: "notes a call with outside effects after the effect",
    edits: [
      {
        file: `${RUNS}/journal.ts`,
        from: "if (isHarmless(this.#options.effects(name)))",
        to: "if (true)",
      },
    ],
    scenario: { course: killedAt(...times(6, "tool.after")), mode: "followup", only: ["exec"] },
    caughtBy: /^blind: the command/,
  },
  {
    name: "has no record of what takes effect once for each call before it is done",
    edits: [{ file: `${TOOLS}/cron.ts`, from: 'effects: "keyed"', to: 'effects: "idempotent"' }],
    // A third death under the same run would bring it to its end.
    scenario: { course: killedAt(...times(2, "tool.after")), mode: "followup", only: ["schedule"] },
    caughtBy: /^twice: the wake/,
  },
  {
    name: "sends each try under another key",
    edits: [
      {
        file: `${DELIVERY}/attempt.ts`,
        from: "idempotencyKey: row.key,\n      signal",
        to: "idempotencyKey: `${row.key.slice(0, 12)}${String(now()).slice(-8)}`,\n            signal",
      },
    ],
    scenario: { course: killedAt(...times(4, "send.after")), mode: "followup", only: ["plain"] },
    caughtBy: /^duplicate:/,
  },
  {
    name: "keeps no receipt of the parts that are out",
    edits: [
      {
        file: `${DELIVERY}/attempt.ts`,
        from: "await context.recordPart(row, toStoredReceipt(part));",
        to: "",
      },
    ],
    scenario: { course: [], loadMs: 5_000, only: ["long"], faults: true },
    caughtBy: /^duplicate:/,
  },
  {
    name: "repeats a doubtful send without a look at the platform",
    edits: [
      {
        file: `${DELIVERY}/attempt.ts`,
        from: "return await resendDoubtful(context, account, row);",
        to: "return await sendOpenParts(context, account, row);",
      },
    ],
    scenario: { course: killedAt(...times(6, "send.after")), mode: "followup", only: ["plain"] },
    caughtBy: /^duplicate:/,
  },
  {
    name: "goes on with waiting messages in the wrong order",
    edits: [
      {
        file: `${GATEWAY}/pipeline/3-accept/accept.ts`,
        from: "const due = (await inbox.claimDue(ctx.lease, isHere)).map(",
        to: "const due = (await inbox.claimDue(ctx.lease, isHere)).toReversed().map(",
      },
    ],
    scenario: { course: laterAt("finish.before", 6, 8, 7, 9), mode: "followup" },
    caughtBy: /^order:/,
  },
  {
    name: "leaves an interrupted run",
    edits: [
      {
        file: `${GATEWAY}/pipeline/pipeline.ts`,
        from: "for (const interrupted of interruptedRuns) {",
        to: "for (const interrupted of []) {",
      },
    ],
    scenario: { course: killedAt("step.after", "step.after") },
    caughtBy: /^rest: the gateway did not come to rest/,
  },
  {
    name: "leaves what waited for its turn",
    edits: [
      {
        file: `${GATEWAY}/pipeline/pipeline.ts`,
        from: "enter(ctx, accepted, true);",
        to: ";",
      },
    ],
    scenario: { course: laterAt("finish.before", 6, 8), mode: "followup" },
    caughtBy: /^rest: the gateway did not come to rest/,
  },
  {
    name: "commits a reply after the end of its turn",
    edits: [
      {
        file: `${GATEWAY}/pipeline/7-conclude/commit.ts`,
        from: "    outbox,\n",
        to: "    outbox: [],\n",
      },
      {
        file: `${GATEWAY}/pipeline/7-conclude/commit.ts`,
        from: "inbox, rows, end, shown };",
        to: "inbox, rows: await store.outbox.enqueue(outbox, { lease, sessionKey: run.sessionKey }), end, shown };",
      },
    ],
    scenario: { course: killedAt(...times(4, "finish.after")), mode: "followup" },
    caughtBy: /^lost: .* has no reply/,
  },
  {
    name: "answers a command again after a crash",
    edits: [
      {
        file: `${GATEWAY}/pipeline/notice.ts`,
        from: "key: createOutboxKey(id)",
        to: "key: createOutboxKey(id, String(now()))",
      },
    ],
    scenario: { course: killedAt(...times(6, "settle.before")), only: ["status"] },
    caughtBy: /^duplicate: the command/,
  },
  {
    name: "loses an edit of what is being answered",
    edits: [
      {
        file: `${GATEWAY}/pipeline/4-queue/edits.ts`,
        from: "if (isChanged && isOpen && event.automatic !== true) {",
        to: "if (false) {",
      },
    ],
    scenario: { course: [], loadMs: 5_000, mode: "followup", only: ["plain"] },
    caughtBy: /^lost: the edit/,
  },
  {
    name: "forgets what steers a run",
    edits: [
      {
        file: `${RUNS}/journal.ts`,
        from: "messages, intents, inboxIds }),",
        to: "messages, intents }),",
      },
    ],
    scenario: { course: [], loadMs: 3_000, mode: "steer" },
    caughtBy: /^(order|state|lost|open|duplicate|rest: the gateway did not come)/,
  },
  {
    name: "leaves a draft that its run does not need",
    edits: [{ file: `${DELIVERY}/drafts/finish-draft.ts`, from: "await opened.abort();", to: "" }],
    scenario: { course: [], loadMs: 4_000 },
    caughtBy: /^draft: nobody's/,
  },
  {
    name: "shows the token of silence",
    edits: [
      {
        file: "packages/prompt/src/replies/parse.ts",
        from: 'const shown = stripSilence(lines.join("\\n"));',
        to: 'const shown = lines.join("\\n");',
      },
    ],
    scenario: { course: [], loadMs: 200, only: ["silent"] },
    caughtBy: /^silence:/,
    quick: true,
  },
  {
    name: "writes secrets to its log",
    edits: [
      {
        file: "packages/telemetry/src/logger/logger.ts",
        from: "visibleJson(redact(line))",
        to: "visibleJson(line)",
      },
    ],
    scenario: { course: [], loadMs: 200 },
    caughtBy: /^secret: one stands in the log/,
    quick: true,
  },
];
