import type { AgentMessage } from "@signalbox/agent-core";
import type { RunHandle } from "@signalbox/lanes";
import { commandOf, resumeCommand } from "../../commands/in-turn.ts";
import { isTakenBack, type MessageTicket, type ResumeTicket, type Ticket } from "../4-queue/message.ts";
import { makeTurn } from "../6-run/run.ts";
import { saidIn } from "../6-run/viewer.ts";
import { failureNote, finish, STOPPED_RUN } from "../7-conclude/conclude.ts";
import { mediaMark } from "../reply-text.ts";
import { POISON_ATTEMPTS } from "./attachment-crashes.ts";
import { chooseModel } from "./choose-model.ts";
import type { RunOptions } from "./open-run.ts";

/** Goes on with a run that an earlier process, or a failing store, has left. Throws what a failing store throws. */
export async function resume(
  options: RunOptions,
  ticket: ResumeTicket,
  lane: RunHandle<Ticket>,
): Promise<void> {
  const { store, lease } = options;
  let { interrupted } = ticket;
  const { lease: written } = interrupted.run;
  // A run of this very process was left by a failing store; one of an earlier process has to be taken over.
  const ours = written.name === lease.name && written.epoch === lease.epoch;
  const { id } = interrupted.run;
  if (ours) await options.askings.over(id);
  const run = ours ? await store.runs.get(id) : await store.runs.adopt({ runId: id, lease });
  if (!run) return;
  // While it waited, its messages may have been deleted.
  interrupted = (await store.runs.inspect(run.id)) ?? interrupted;
  await options.drafts.recall(run.id);
  const { sessionKey, agentId } = run;
  const gone: ReadonlySet<string> = new Set(interrupted.inbox.filter(isTakenBack).map(({ id }) => id));
  const handle: RunHandle<Ticket> = {
    ...lane,
    recalled: { has: (id) => gone.has(id) || lane.recalled.has(id) },
  };
  const tickets = interrupted.inbox.map((row): MessageTicket => {
    const order = options.readOrder(row.payload, agentId);
    return {
      kind: "message",
      id: row.id,
      sessionKey,
      agentId,
      stored: row.payload,
      ...(order === undefined ? {} : { order }),
      exclusive: false,
      recovered: true,
    };
  });
  for (const one of tickets)
    options.tracer.note(one.id, "lane", `taken up after a restart, start ${run.attempts}`);
  if (tickets.every(({ id }) => gone.has(id)))
    return finish(options, { runId: run.id, sessionKey, tickets, handle }, STOPPED_RUN);
  const named = options.agents.get(agentId);
  const session = await store.sessions.get(sessionKey);
  const poisoned = run.attempts > POISON_ATTEMPTS;
  const [first] = tickets;
  const last = tickets.at(-1);
  if (!poisoned && named && first && commandOf(interrupted) !== undefined) {
    return resumeCommand(options, { ticket: first, agent: named, order: first.order, handle }, interrupted);
  }
  const chosen = named && last && (await chooseModel(options, named, last, session));
  if (poisoned || !chosen) {
    options.logger.error({ run: run.id, attempts: run.attempts }, "an interrupted run was set aside");
    const code = poisoned ? "poison" : "no_agent";
    const text = failureNote(code);
    return finish(
      options,
      { runId: run.id, sessionKey, tickets, handle },
      {
        outcome: poisoned ? "poisoned" : "failed",
        state: "failed-reported",
        rule: code,
        reply: { text, silent: false, note: text },
        end: "failed",
        error: { code, message: text },
      },
    );
  }
  const { agent, agentModel } = chosen;
  const history = await options.histories.load(sessionKey, session);
  const earlier = interrupted.messages.flatMap(({ message }) =>
    message.role === "assistant" ? [saidIn(message)] : [],
  );
  await makeTurn(options, {
    runId: run.id,
    agent,
    agentModel,
    sessionKey,
    tickets,
    handle,
    generation: run.generation,
    history: history.messages,
    places: history.places,
    started: new Set(interrupted.calls.flatMap((call) => (call.state === "started" ? [call.callId] : []))),
    earlier,
    sentByTool: sentBefore(interrupted.messages.map(({ message }) => message)),
  });
}

/** Texts that the message tool sent to this conversation before the restart. */
function sentBefore(messages: readonly AgentMessage[]): string[] {
  const done = new Set(
    messages.flatMap((message) =>
      message.role === "toolResult" && !message.isError ? [message.toolCallId] : [],
    ),
  );
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return [];
    return message.content.flatMap((block) => {
      if (block.type !== "toolCall" || block.name !== "message" || !done.has(block.id)) return [];
      const { action, target, message: text, media } = block.args ?? {};
      if (action !== "send" || target !== undefined) return [];
      const marks = Array.isArray(media) ? media.map((source) => mediaMark(String(source))) : [];
      return [...(typeof text === "string" ? [text] : []), ...marks];
    });
  });
}
