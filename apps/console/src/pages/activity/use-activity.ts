import type { Activity } from "@signalbox/client";
import { useEffect, useState } from "react";
import { useGateway } from "../../gateway.tsx";

/** What goes on in the gateway, as it says itself at each change; undefined until it has said so. */
export function useActivity(): Activity | undefined {
  const { connection } = useGateway();
  const [activity, setActivity] = useState<Activity>();
  useEffect(() => connection.watch(setActivity), [connection]);
  return activity;
}
