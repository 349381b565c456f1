import type { Problem } from "@signalbox/client";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useGateway } from "../../gateway.tsx";
import { toProblem } from "../../parts/problem.tsx";

const route = getRouteApi("/c/$conversation");

interface SpokenAnswer {
  /** `data:` URL of the recording, once the gateway has spoken the answer. */
  readonly source: string | undefined;
  readonly problem: Problem | undefined;
  /** Absent if the answer cannot be spoken, or was already. */
  readonly onListen?: () => void;
}

/**
 * Speaks an answer when the user asks for it, and keeps the recording while the answer is shown.
 *
 * @param id id of the answer; undefined while it is streaming
 */
export function useSpokenAnswer(id: string | undefined): SpokenAnswer {
  const { client, me } = useGateway();
  const { conversation } = route.useParams();
  const [source, setSource] = useState<string>();
  const [problem, setProblem] = useState<Problem>();
  const [isLoading, setIsLoading] = useState(false);
  if (me.speech !== true || id === undefined || isLoading || source !== undefined) return { source, problem };
  const listen = async (): Promise<void> => {
    setIsLoading(true);
    setProblem(undefined);
    try {
      const { mimeType, data } = await client.speak(conversation, id);
      setSource(`data:${mimeType};base64,${data}`);
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      setIsLoading(false);
    }
  };
  return { source, problem, onListen: () => void listen() };
}
