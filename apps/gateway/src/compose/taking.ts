import type { Capabilities, MessageEvent } from "@signalbox/channel";
import { senderName } from "@signalbox/channel/accounts";
import type { Lanes, QueueModes } from "@signalbox/lanes";
import type { SkillCommand } from "@signalbox/skills";
import { createAtOnceCommands } from "../chat-commands/at-once.ts";
import type { Agent } from "../configure/agents.ts";
import { createPhrasesOf } from "../configure/phrases-of.ts";
import { explainRoute } from "../configure/routing.ts";
import { createReceive } from "../pipeline/1-receive/receive.ts";
import type { Admit } from "../pipeline/2-admit/admit.ts";
import { createAccept } from "../pipeline/3-accept/accept.ts";
import { createUnanswered } from "../pipeline/3-accept/unanswered.ts";
import { createEdits } from "../pipeline/4-queue/edits.ts";
import { isMeantByStop, type Queued, type ReadOrder } from "../pipeline/4-queue/message.ts";
import { createQueue } from "../pipeline/4-queue/queue.ts";
import { createTaking, type Taking } from "../pipeline/pipeline.ts";
import { VERSION } from "../version.ts";
import type { Parts } from "./surroundings.ts";

interface TakingPorts {
  readonly lanes: Lanes<Queued>;
  readonly queueModes: QueueModes;
  readonly readOrder: ReadOrder;
  readonly skills: (agent: Agent) => readonly SkillCommand[];
  readonly admit: Admit;
  readonly capabilities: (event: MessageEvent) => Capabilities | undefined;
}

/** The stages that lead to the lanes. */
export function createTakingHalf(parts: Parts, ports: TakingPorts): Taking {
  const { options, resolved, opened, surroundings, configuration, now } = parts;
  const { accounts, agents } = resolved;
  const { definition } = accounts;
  const { hooks, live, tracer, metrics, userQuestions, supervisor } = surroundings;
  const { logger } = options;
  const common = { store: opened.store, lease: opened.lease, tracer, logger, now };
  const queue = createQueue({
    agents,
    readOrder: ports.readOrder,
    answerAtOnce: createAnswerAtOnce(parts, ports),
    lanes: ports.lanes,
    modes: ports.queueModes,
    userQuestions,
    logger,
  });
  return createTaking({
    receive: createReceive({ definition, logger }),
    admit: ports.admit,
    accept: createAccept({
      ...common,
      inbox: opened.store.inbox,
      hooks,
      live,
      onAccepted: (id, message) => surroundings.outcomes.accepted(id, message),
    }),
    unanswered: createUnanswered({
      ...common,
      supervisor,
      historyLimit: () => configuration.config().access.groups.historyLimit,
      nameOf: (event) => senderName(event, accounts.get(event.channel, event.account)),
      wakeOutbox: () => surroundings.delivery.wake(),
      onOutcome: surroundings.onOutcome,
    }),
    edits: createEdits({ ...common, lanes: ports.lanes, queue, capabilities: ports.capabilities }),
    queue,
    metrics,
  });
}

/** The commands that are answered without a turn of their session. */
function createAnswerAtOnce(
  { options, resolved, opened, surroundings, configuration, now }: Parts,
  { lanes, queueModes, skills }: TakingPorts,
): ReturnType<typeof createAtOnceCommands> {
  const { logger } = options;
  const { exchanges, live, tracer, hooks, router, delivery, spending, toolbox, trust } = surroundings;
  const { supervisor, onOutcome, subAgents, userQuestions } = surroundings;
  return createAtOnceCommands({
    store: opened.store,
    lease: opened.lease,
    audit: opened.audit,
    models: resolved.models,
    definition: resolved.accounts.definition,
    skillApprovals: resolved.skills,
    phrasesOf: createPhrasesOf(resolved.agents),
    approvals: toolbox.approvals,
    deliver: (rows) => delivery.deliver(rows),
    queueMode: () => configuration.config().session.queue.mode,
    startedAt: now(),
    version: VERSION,
    explainRoute: (event) => explainRoute(router, event),
    queueModes,
    budgetsLeft: (message) => spending.left(message),
    waiting: (sessionKey) => lanes.waiting(sessionKey).length,
    stop: (sessionKey, reason, by) =>
      lanes.stop(sessionKey, reason, (item) => by === undefined || isMeantByStop(item, by)),
    hooks,
    exchanges,
    live,
    tracer,
    logger,
    now,
    onOutcome,
    supervisor,
    skills,
    trust,
    userQuestions,
    subAgents,
  });
}
