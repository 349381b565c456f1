/** The address at which browsers reach the gateway. */
export interface PublicAddress {
  /** Records the URL at which the HTTP server listens. */
  listening(url: string): void;
  /** Returns the URL of a path, below the path of `gateway.publicUrl`. */
  resolve(path: string): string;
}

/** @param getConfigured returns `gateway.publicUrl` */
export function createPublicAddress(getConfigured: () => string | undefined): PublicAddress {
  let port = "";
  return {
    listening(url) {
      port = new URL(url).port;
    },
    // The server may listen on an address that is no host name, such as 0.0.0.0.
    resolve: (path) => (getConfigured() ?? `http://127.0.0.1:${port}`).replace(/\/+$/, "") + path,
  };
}
