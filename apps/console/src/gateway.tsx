import type { Client, Connection, ConnectionState, Me } from "@signalbox/client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useState,
  useSyncExternalStore,
} from "react";

/** The gateway of the signed-in user. */
export interface Gateway {
  client: Client;
  connection: Connection;
  me: Me;
  signOut: () => Promise<void>;
}

const SignedIn = createContext<Gateway | undefined>(undefined);

/** Creates a query cache for one sign-in, so that another user never sees its data. */
export function GatewayProvider({ gateway, children }: { gateway: Gateway; children: ReactNode }): ReactNode {
  const [queries] = useState(() => new QueryClient({ defaultOptions: { queries: { retry: false } } }));
  return (
    <SignedIn value={gateway}>
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    </SignedIn>
  );
}

export function useGateway(): Gateway {
  const gateway = useContext(SignedIn);
  if (gateway === undefined) throw new Error("Nobody is signed in here.");
  return gateway;
}

export function useClient(): Client {
  return useGateway().client;
}

/** Returns the state of the connection. Reconnects immediately when the browser is online again. */
export function useConnectionState(): ConnectionState {
  const { connection } = useGateway();
  const subscribe = useCallback(
    (changed: () => void) => {
      const retry = () => connection.retryNow();
      addEventListener("online", retry);
      const stop = connection.onState(changed);
      return () => {
        removeEventListener("online", retry);
        stop();
      };
    },
    [connection],
  );
  return useSyncExternalStore(subscribe, () => connection.state);
}
