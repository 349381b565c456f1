import type { Activity } from "@signalbox/client";
import { useEffect, useState } from "react";
import { useGateway } from "../../gateway.tsx";

/** Live activity pushed by the gateway. Undefined until the first update. */
export function useActivity(): Activity | undefined {
  const { connection } = useGateway();
  const [activity, setActivity] = useState<Activity>();
  useEffect(() => connection.watch(setActivity), [connection]);
  return activity;
}
