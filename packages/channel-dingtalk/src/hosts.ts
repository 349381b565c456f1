import { ChannelError } from "@signalbox/channel";

/** Domains of DingTalk. */
const HOSTS = /\.dingtalk\.(?:com|io)$/;
/** The same, and the domain of Alibaba's object storage, where DingTalk keeps files. */
const FILE_HOSTS = /\.(?:dingtalk\.(?:com|io)|aliyuncs\.com)$/;

/**
 * Returns the URL of a connection. It must be on a host of DingTalk, or belong to the same host or domain as the API,
 * and use TLS unless the API's base URL does not.
 *
 * @throws ChannelError `transient` for any other URL
 */
export function checkStreamUrl(endpoint: string, apiBaseUrl: string): URL {
  const base = new URL(apiBaseUrl);
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isEncrypted = url?.protocol === "wss:" || (url?.protocol === "ws:" && base.protocol === "http:");
  if (
    url !== undefined &&
    isEncrypted &&
    (HOSTS.test(url.hostname) || isSameSite(url.hostname, base.hostname))
  )
    return url;
  throw new ChannelError("transient", "DingTalk: the address of the connection does not belong to DingTalk", {
    scope: "account",
  });
}

/** Returns true for the same host, or another one in the domain that contains it. IP addresses have no domain. */
function isSameSite(host: string, base: string): boolean {
  if (host === base) return true;
  const [, ...domain] = base.split(".");
  return domain.length >= 2 && !/^[\d.]+$/.test(base) && host.endsWith(`.${domain.join(".")}`);
}

/**
 * Returns the URL of a file. It must be on a host of DingTalk, over TLS, or on the API's own origin.
 *
 * @throws ChannelError `invalid` for any other URL
 */
export function checkFileUrl(address: string, apiBaseUrl: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.origin === new URL(apiBaseUrl).origin) return url;
  if (
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.port === "" &&
    FILE_HOSTS.test(url.hostname)
  ) {
    // DingTalk also returns http URLs of hosts that support https.
    url.protocol = "https:";
    return url;
  }
  throw new ChannelError("invalid", "DingTalk: the file is not on a host of DingTalk");
}
