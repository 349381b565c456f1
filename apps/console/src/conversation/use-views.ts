import {
  type Client,
  type Connection,
  type ConversationHistory,
  isClientError,
  newId,
  type ServerFrame,
} from "@signalbox/client";
import { useCallback, useEffect, useMemo, useReducer, useRef } from "react";
import { toProblem } from "../parts/problem.tsx";
import type { Uploaded } from "./item.ts";
import { applyChange, type Change, EMPTY, type View } from "./view.ts";

type Views = ReadonlyMap<string, View>;
type Step = { conversation: string; change: Change };

const NOTHING: ConversationHistory = { messages: [], ends: [] };

export interface ViewActions {
  /** Loads a conversation and subscribes to it. A new conversation has no history to load. */
  open(conversation: string, agent: string, isNew: boolean): void;
  send(conversation: string, agent: string, text: string, files: readonly Uploaded[]): void;
  stop(conversation: string): void;
  dismiss(conversation: string, key: string): void;
}

/** The views of all opened conversations, updated by frames of the connection. */
export function useViews(client: Client, connection: Connection): [Views, ViewActions] {
  const [views, apply] = useReducer(applySteps, new Map<string, View>());
  const opened = useRef(new Map<string, () => void>());

  const change = useCallback((conversation: string, ...changes: Change[]) => {
    apply(changes.map((each) => ({ conversation, change: each })));
  }, []);

  const load = useCallback(
    async (conversation: string) => {
      try {
        change(conversation, { type: "history", history: await client.history(conversation) });
      } catch (error) {
        // A conversation does not exist on the gateway until its first message.
        const isUnknown = isClientError(error) && error.code === "not_found";
        if (isUnknown) change(conversation, { type: "history", history: NOTHING });
        else change(conversation, { type: "problem", problem: toProblem(error) });
      }
    },
    [client, change],
  );

  useEffect(() => {
    // Apply all changes of one animation frame together, because deltas arrive faster than the screen updates.
    let arrived: Step[] = [];
    let picture = 0;
    const flush = () => {
      picture = 0;
      const steps = arrived;
      arrived = [];
      apply(steps);
    };
    let wasReady = connection.state.kind === "open";
    const stop = connection.onFrame((frame) => {
      if (frame.type === "ready") {
        if (wasReady) for (const conversation of opened.current.keys()) void load(conversation);
        wasReady = true;
        return;
      }
      for (const conversation of concerned(frame, opened.current.keys()))
        arrived.push({ conversation, change: { type: "frame", frame } });
      if (arrived.length > 0 && picture === 0) picture = requestAnimationFrame(flush);
    });
    return () => {
      stop();
      cancelAnimationFrame(picture);
    };
  }, [connection, load]);

  useEffect(() => {
    const held = opened.current;
    return () => {
      for (const release of held.values()) release();
      held.clear();
    };
  }, []);

  const actions = useMemo(
    (): ViewActions => ({
      open: (conversation, agent, isNew) => {
        if (opened.current.has(conversation)) return;
        opened.current.set(conversation, connection.subscribe(conversation, agent));
        if (isNew) change(conversation, { type: "history", history: NOTHING });
        else void load(conversation);
      },
      send: (conversation, agent, text, files) => {
        const id = newId();
        const attachments = files.map(({ preview: _, ...sent }) => sent);
        change(conversation, { type: "sending", id, text, ...(files.length > 0 && { files }) });
        connection.send({ id, agent, conversation, text, attachments }).catch((error: unknown) => {
          change(conversation, { type: "refused", id, problem: toProblem(error), files });
        });
      },
      stop: (conversation) => connection.abort(conversation),
      dismiss: (conversation, key) => change(conversation, { type: "dismiss", key }),
    }),
    [connection, change, load],
  );
  return [views, actions];
}

function applySteps(views: Views, steps: Step[]): Views {
  const next = new Map(views);
  for (const { conversation, change } of steps)
    next.set(conversation, applyChange(next.get(conversation) ?? EMPTY, change));
  return next;
}

/** Returns the opened conversations that a frame concerns. A frame without a conversation concerns the visible one. */
function concerned(frame: ServerFrame, opened: Iterable<string>): string[] {
  if (frame.type === "pong" || frame.type === "activity") return [];
  const named = "conversation" in frame ? frame.conversation : undefined;
  return [...opened].filter((conversation) => named === undefined || named === conversation);
}
