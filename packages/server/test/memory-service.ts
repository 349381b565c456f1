import { isDeepStrictEqual } from "node:util";
import type { LiveEvent } from "@signalbox/protocol";
import {
  ApiError,
  createLiveHub,
  type GatewayService,
  type LiveHub,
  ONE_OFF_PREFIX,
  type Outcome,
  type Submission,
  type SubmitResult,
} from "../src/index.ts";
import { createMemoryAdmin } from "./memory-admin.ts";

/** A service without agents. The test decides the outcome of each message. */
export interface MemoryService extends GatewayService {
  readonly live: LiveHub;
  /** Submitted messages without duplicates. */
  readonly submissions: Submission[];
  /** Texts that were sent to people. */
  readonly sentTexts: string[];
  /** Ids of all submitted messages, including duplicates. */
  readonly attempts: string[];
  /** Conversations whose run was stopped. */
  readonly stopped: string[];
  /** Ids of existing conversations, which have no messages. */
  readonly existing: string[];
  /** Ends a message. */
  end(id: string, outcome: Outcome): void;
}

/** @param reply decides the outcome of each message; without it, messages wait for `end` */
export function createMemoryService(reply?: (submission: Submission) => Outcome): MemoryService {
  const live = createLiveHub((error) => {
    throw error;
  });
  const submissions: Submission[] = [];
  const sentTexts: string[] = [];
  const attempts: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<Outcome>>();
  const texts = new Map<string, string>();
  const stopped: string[] = [];
  const existing: string[] = [];
  const sessionKey = (channel: string, agent: string, conversation: string) =>
    `${channel}/${agent}/${conversation}`;

  const service: MemoryService = {
    admin: createMemoryAdmin(),
    version: "1.0.0",
    async sendMessage(key, text) {
      if (key !== "known") throw new ApiError("not_found", `There is no conversation ${key}.`);
      sentTexts.push(text);
    },
    sentTexts,
    mcp: {
      servers: async () => [],
      login: async () => undefined,
      logout: async () => undefined,
      finishLogin: async (callback) =>
        callback.searchParams.get("state") === "right"
          ? { ok: true, server: "tickets" }
          : { ok: false, code: "unknown_state", message: "<b>unknown</b>" },
    },
    live,
    submissions,
    attempts,
    stopped,
    existing,
    sessionKey,
    agents: () => [
      { id: "first", name: "First", model: "demo/demo", demo: true },
      { id: "second", name: "Second", model: "demo/demo", demo: true, default: true },
    ],
    async submit(submission): Promise<SubmitResult> {
      const { id, channel, agent, conversation } = submission;
      const key = sessionKey(channel, agent, conversation);
      attempts.push(id);
      const known = ends.get(id);
      if (known !== undefined) {
        const first = submissions.find((submission) => submission.id === id);
        if (!isDeepStrictEqual(first, submission))
          return {
            kind: "refused",
            code: "id_taken",
            message: "This id was already used for another message.",
          };
        return { kind: "duplicate", messageId: id, sessionKey: key, done: known.promise };
      }
      submissions.push(submission);
      const end = Promise.withResolvers<Outcome>();
      ends.set(id, end);
      if (reply !== undefined) service.end(id, reply(submission));
      return { kind: "accepted", messageId: id, sessionKey: key, done: end.promise };
    },
    end(id, outcome) {
      texts.set(id, outcome.text);
      ends.get(id)?.resolve(outcome);
    },
    answer: async (id) => texts.get(id),
    async abort(_channel, _agent, conversation) {
      stopped.push(conversation);
      const id = conversation.startsWith(ONE_OFF_PREFIX) ? conversation.slice(ONE_OFF_PREFIX.length) : "";
      service.end(id, { state: "aborted", text: "" });
      return true;
    },
    busy: () => false,
    lastRun: () => undefined,
    conversations: async (prefix) =>
      existing
        .filter((id) => id.startsWith(prefix))
        .map((id) => ({ id, agent: "second", title: id, updatedAt: 0 })),
    upload: async ({ at, bytes }) =>
      at === 0 ? { kind: "added", bytes: bytes.byteLength } : { kind: "out_of_order", bytes: 0 },
    history: async (conversation) =>
      existing.includes(conversation) ? { messages: [], ends: [] } : undefined,
    canSpeak: () => true,
    async speak(conversation, messageId) {
      if (!existing.includes(conversation) || messageId !== "a1")
        throw new ApiError("not_found", `There is no answer ${messageId}.`);
      return { mimeType: "audio/ogg", data: Buffer.from(conversation).toString("base64") };
    },
    renameConversation: async (conversation) => existing.includes(conversation),
    removeConversation: async (conversation) => {
      const index = existing.indexOf(conversation);
      if (index < 0) return "unknown";
      existing.splice(index, 1);
      return "removed";
    },
    sessions: async () => [],
    transcript: async () => undefined,
    messages: async () => ({ messages: [] }),
    commands: () => [],
    why: async () => undefined,
    pairings: async () => ({ pending: [], paired: [], owners: [], allowed: [] }),
    approvePairing: async () => undefined,
    revokePairing: async () => false,
    trace: async () => undefined,
    approvals: async () => [],
    decideApproval: async () => false,
    trust: async ({ path }) => ({ ok: true, path }),
    schedules: async () => [],
    addSchedule: async () => ({ ok: false, message: "schedules are not supported" }),
    removeSchedule: async () => false,
    runSchedule: async () => "unknown",
    checks: async () => [],
    activity: async () => ({ runs: [], waiting: [], commands: [], schedules: [] }),
    usage: async () => ({ groups: [], budgets: [] }),
    usageSeries: async () => ({ points: [] }),
    status: async () => ({
      version: "1.0.0",
      demo: true,
      startedAt: 0,
      agents: [],
      channels: [],
      configuration: { forStart: [], kept: [], errors: [] },
      inboxPending: 0,
      outboxPending: 0,
    }),
    nodes: async () => ({ shared: false, nodes: [], seats: [], databaseBytes: 0 }),
    metrics: async () => ({ contentType: "text/plain", body: "up 1\n" }),
    prune: async () => {
      throw new Error("there is no store");
    },
    vacuum: async () => ({ freedBytes: 0 }),
    outboxChanged: () => {},
    ready: () => true,
    storeFault: () => undefined,
    webhook: async () => undefined,
  };
  return service;
}

/** Creates the events of a run that streams one text in pieces. */
export function createRunEvents(runId: string, answers: string[], pieces: readonly string[]): LiveEvent[] {
  const message = { id: `${runId}.0`, role: "assistant", text: pieces.join(""), at: 0, runId } as const;
  return [
    { type: "run.start", runId, answers },
    ...pieces.map((delta) => ({ type: "text.delta", runId, delta }) as const),
    { type: "message", message },
    { type: "run.end", runId, outcome: "replied", answers },
  ];
}
