import type { MessageEvent } from "@signalbox/channel";
import type { WebHub } from "@signalbox/channel-web";
import type { RunOutcome } from "@signalbox/protocol";
import { formatSessionKey } from "@signalbox/routing";
import type { GatewayService, Outcome, Submission, SubmitResult } from "@signalbox/server";
import { OWN_ACCOUNT } from "../configure/accounts.ts";
import { type FileDesk, hasFiles, repeatedFiles, setDownFiles } from "./carried-files.ts";
import { clientMessage, isOfMessage, senderOf } from "./client-message.ts";
import { endOfKnown, type KeptOutcomePorts } from "./kept-outcome.ts";

/** The channels of the gateway's own clients, by id. */
export interface Surfaces {
  /** The page and other programs that watch a conversation; also what `/hooks` brings in. */
  readonly web: WebHub;
  /** The OpenAI surface. */
  readonly api: WebHub;
}

export interface SubmitPorts extends KeptOutcomePorts {
  readonly agents: { get(id: string): object | undefined };
  readonly surfaces: { readonly [Name in keyof Surfaces]: Pick<Surfaces[Name], "submit"> };
  /** Keeps the files that messages carry until they are answered. */
  readonly carried: FileDesk;
  readonly ready: () => boolean;
}

/** The end of a message where the store cannot say it. */
const UNREADABLE: Outcome = {
  state: "failed",
  text: "",
  error: { code: "internal", message: "The gateway cannot read the outcome of this message." },
};

/** Takes messages of the gateway's own clients, and tells them how those end. */
export function createSubmit(ports: SubmitPorts): Pick<GatewayService, "submit" | "answer" | "lastRun"> {
  const { store, agents, outcomes, carried } = ports;
  const lastRuns = createLastRuns();

  const repetition = async (submission: Submission): Promise<SubmitResult> => {
    const named = nameOf(submission);
    const taken = await store.inbox.find(named);
    if (taken !== undefined && !(await isRepeated(taken.payload.event, submission)))
      return refused("id_taken", "This id was already used for another message.");
    const done = endOfKnown(ports, named).catch(() => UNREADABLE);
    return { kind: "duplicate", messageId: submission.id, sessionKey: sessionOf(submission), done };
  };

  /** A repetition sets nothing down. */
  const isTakenWithFiles = async (submission: Submission): Promise<boolean> =>
    hasFiles(submission) && (await store.inbox.find(nameOf(submission))) !== undefined;

  return {
    lastRun: lastRuns.get,
    async submit(submission) {
      if (!ports.ready()) return refused("stopping", "The gateway is stopping.");
      const { channel, agent, id } = submission;
      if (!agents.get(agent)) return refused("no_agent", `There is no agent ${agent}.`);
      const sessionKey = sessionOf(submission);
      if (await isTakenWithFiles(submission)) return repetition(submission);
      const files = await setDownFiles(submission, carried);
      const message = clientMessage(submission, files);
      const expected = outcomes.expect(nameOf(submission));
      const result = await ports.surfaces[channel].submit(message).catch((error) => {
        expected.forget();
        throw error;
      });
      if (result === "accepted") {
        const done = expected.done.then((outcome) => lastRuns.keep(sessionKey, outcome));
        // What a stop, or a failure, leaves behind goes after a day.
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
      if (client.role !== "owner" && asked?.senderId !== senderOf(client).id) return undefined;
      const { state, text } = await endOfKnown(ports, named);
      return state === "replied" || state === "silent" ? text : undefined;
    },
  };
}

/** A watching client may have changed its mind about the words; nobody repeats what somebody else said. */
async function isRepeated(taken: MessageEvent, submission: Submission): Promise<boolean> {
  const message = clientMessage(submission, await repeatedFiles(submission, taken));
  return submission.channel === "api"
    ? isOfMessage(taken, message)
    : taken.conversation.id === message.conversation && taken.sender.id === message.user.id;
}

function nameOf({ channel, id }: Submission) {
  return { channel, account: OWN_ACCOUNT, messageId: id };
}

function sessionOf({ channel, agent, conversation }: Submission): string {
  return formatSessionKey({ kind: "direct", agentId: agent, channel, peerId: conversation });
}

function refused(code: Extract<SubmitResult, { kind: "refused" }>["code"], message: string): SubmitResult {
  return { kind: "refused", code, message };
}

const MOST_KEPT = 1_000;

/** How the last run of each session ended, for clients that were away. */
function createLastRuns() {
  const runs = new Map<string, { readonly runId: string; readonly outcome: RunOutcome }>();
  return {
    get: (sessionKey: string) => runs.get(sessionKey),
    keep(sessionKey: string, outcome: Outcome): Outcome {
      const { runId, state } = outcome;
      if (runId === undefined || state === "ignored") return outcome;
      runs.delete(sessionKey);
      runs.set(sessionKey, { runId, outcome: state });
      const [oldest] = runs.keys();
      if (runs.size > MOST_KEPT && oldest !== undefined) runs.delete(oldest);
      return outcome;
    },
  };
}
