import { BlockList, isIP } from "node:net";

/**
 * IPv4 that is no public host. Sources: IANA's registry of special-purpose addresses, RFC 1122 (class D and E), and
 * Azure's machine agent, which has a public address that is answered inside only.
 */
const IPV4_CLOSED: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** Of IPv6 only global unicast is open; these parts of it stand for something else, some for an IPv4 address. */
const IPV6_CLOSED: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const closed4 = new BlockList();
for (const [net, prefix] of IPV4_CLOSED) closed4.addSubnet(net, prefix, "ipv4");
const open6 = new BlockList();
open6.addSubnet("2000::", 3, "ipv6");
const closed6 = new BlockList();
for (const [net, prefix] of IPV6_CLOSED) closed6.addSubnet(net, prefix, "ipv6");

/**
 * Whether an IP address is that of a host on the public internet: not loopback, private, link-local, shared, multicast,
 * documentation, a cloud's metadata service, nor an IPv6 form of an IPv4 address. False for what is no IP address.
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !closed4.check(address, "ipv4");
    case 6:
      return !address.includes("%") && open6.check(address, "ipv6") && !closed6.check(address, "ipv6");
    default:
      return false;
  }
}
