import type { MessageEvent } from "@signalbox/channel";
import type { RunOutcome } from "@signalbox/protocol";
import { formatSessionKey } from "@signalbox/routing";
import type { GatewayService, Outcome, Submission, SubmitResult } from "@signalbox/server";
import { OWN_ACCOUNT } from "../configure/accounts.ts";
import type { GatewayContext } from "../context.ts";
import { clientMessage, isOfMessage, toSender } from "./client-message.ts";
import { hasFiles, repeatedFiles, storeEmbeddedFiles } from "./embedded-files.ts";
import { waitForRemoteRun } from "./remote-run.ts";
import { waitForOutcome } from "./wait-for-outcome.ts";

/** Outcome of a message if the store cannot be read. */
const UNREADABLE: Outcome = {
  state: "failed",
  text: "",
  error: { code: "internal", message: "The gateway cannot read the outcome of this message." },
};

/** Accepts messages from the gateway's own clients and reports the outcomes to them. */
export function createSubmit(
  ctx: GatewayContext,
  isReady: () => boolean,
): Pick<GatewayService, "submit" | "answer" | "lastRun"> {
  const { store, outcomes, surfaces } = ctx;
  const { carried } = ctx.clientFiles;
  const lastRuns = createLastRuns(ctx);

  const repetition = async (submission: Submission): Promise<SubmitResult> => {
    const named = toPlatformMessage(submission);
    const taken = await store.inbox.find(named);
    if (taken !== undefined && !(await isRepeated(taken.payload.event, submission)))
      return refused("id_taken", "This id was already used for another message.");
    const done = waitForOutcome(ctx, named).catch(() => UNREADABLE);
    return { kind: "duplicate", messageId: submission.id, sessionKey: getSessionKey(submission), done };
  };

  /** A repeated submission must not store its files again. */
  const isTakenWithFiles = async (submission: Submission): Promise<boolean> =>
    hasFiles(submission) && (await store.inbox.find(toPlatformMessage(submission))) !== undefined;

  return {
    lastRun: lastRuns.get,
    async submit(submission) {
      if (!isReady()) return refused("stopping", "The gateway is stopping.");
      const { channel, agent, id } = submission;
      if (!ctx.config.current().agents.get(agent)) return refused("no_agent", `There is no agent ${agent}.`);
      const sessionKey = getSessionKey(submission);
      if (await isTakenWithFiles(submission)) return repetition(submission);
      const files = await storeEmbeddedFiles(submission, carried);
      const message = clientMessage(submission, files);
      const expected = outcomes.expect(toPlatformMessage(submission));
      // Otherwise, the other node could begin the run before it knows of the viewers here.
      await ctx.liveRelay?.announced(sessionKey);
      const result = await surfaces[channel].submit(message).catch((error) => {
        expected.forget();
        throw error;
      });
      if (result === "accepted") {
        const isHere = ctx.seats.isHere(agent, sessionKey);
        if (!isHere) expected.forget();
        const ended = isHere
          ? expected.done
          : waitForRemoteRun(ctx, toPlatformMessage(submission), sessionKey);
        const done = ended.catch(() => UNREADABLE);
        // If files remain after a stop or a failure, they are removed after a day.
        done.then(({ error }) => (error?.code === "stopping" ? undefined : files.forget())).catch(() => {});
        return { kind: "accepted", messageId: id, sessionKey, done };
      }
      expected.forget();
      await files.forget().catch(() => {});
      if (result === "duplicate") return repetition(submission);
      return refused("full", "The gateway has too many unanswered messages. Try again soon.");
    },
    async answer(messageId, client) {
      const named = { channel: "api", account: OWN_ACCOUNT, messageId };
      const asked = await store.inbox.find(named);
      if (client.role !== "owner" && asked?.senderId !== toSender(client).id) return undefined;
      const { state, text } = await waitForOutcome(ctx, named);
      return state === "replied" || state === "silent" ? text : undefined;
    },
  };
}

/**
 * Compares a repeated submission with the stored event. A client that watches may reuse an id with a different text,
 * but only in its own conversation.
 */
async function isRepeated(taken: MessageEvent, submission: Submission): Promise<boolean> {
  const message = clientMessage(submission, await repeatedFiles(submission, taken));
  return submission.channel === "api"
    ? isOfMessage(taken, message)
    : taken.conversation.id === message.conversation && taken.sender.id === message.user.id;
}

function toPlatformMessage({ channel, id }: Submission) {
  return { channel, account: OWN_ACCOUNT, messageId: id };
}

function getSessionKey({ channel, agent, conversation }: Submission): string {
  return formatSessionKey({ kind: "direct", agentId: agent, channel, peerId: conversation });
}

function refused(code: Extract<SubmitResult, { kind: "refused" }>["code"], message: string): SubmitResult {
  return { kind: "refused", code, message };
}

const MAX_LAST_RUNS = 1_000;

/** Stores the outcome of each session's last run for clients that reconnect, perhaps from another node. */
function createLastRuns({ live }: GatewayContext) {
  const runs = new Map<string, { readonly runId: string; readonly outcome: RunOutcome }>();
  live.observe((event, sessionKey) => {
    if (event.type !== "run.end") return;
    const { runId, outcome } = event;
    runs.delete(sessionKey);
    runs.set(sessionKey, { runId, outcome });
    const [oldest] = runs.keys();
    if (runs.size > MAX_LAST_RUNS && oldest !== undefined) runs.delete(oldest);
  });
  return { get: (sessionKey: string) => runs.get(sessionKey) };
}
