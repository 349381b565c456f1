import { BlockList, isIP } from "node:net";

/**
 * IPv4 ranges without public hosts. Sources: IANA's registry of special-purpose addresses, RFC 1122 (classes D and E),
 * and Azure's virtual machine agent, which has a public address that only works inside Azure.
 */
const NON_PUBLIC_IPV4: readonly (readonly [string, number])[] = [
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

/**
 * IPv6 ranges inside global unicast that are not public, for example because they contain an IPv4 address. IPv6 ranges
 * outside global unicast are not public anyway.
 */
const NON_PUBLIC_IPV6: readonly (readonly [string, number])[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const closed4 = new BlockList();
for (const [net, prefix] of NON_PUBLIC_IPV4) closed4.addSubnet(net, prefix, "ipv4");
const open6 = new BlockList();
open6.addSubnet("2000::", 3, "ipv6");
const closed6 = new BlockList();
for (const [net, prefix] of NON_PUBLIC_IPV6) closed6.addSubnet(net, prefix, "ipv6");

/**
 * Returns true if an IP address belongs to a host on the public internet. Loopback, private, link-local, shared,
 * multicast and documentation addresses, cloud metadata services, and IPv6 forms of IPv4 addresses are not public.
 * Returns false if the string is not an IP address.
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
