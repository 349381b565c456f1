/** What the filter has to know of a processor: numbers of system calls, as in the kernel's tables. */
interface Numbers {
  readonly audit: number;
  /** Calls beyond belong to another table (x32). */
  readonly below?: number;
  readonly socket: number;
  /** Answered as if the kernel did not have them. */
  readonly missing: readonly number[];
  /** Calls that give a file its rights, with the place of the mode among their arguments. */
  readonly modes: readonly (readonly [call: number, argument: number])[];
  /** The same, where the mode counts only when the flags make a file. */
  readonly opening: readonly (readonly [call: number, flags: number, mode: number])[];
}

/*
 * Missing: memory that no process maps and no limit counts (memfd_create, memfd_secret, shmget, msgget), keys of the
 * kernel's keyring (add_key, request_key, keyctl), interfaces that reach past this filter or far into the kernel
 * (io_uring_*, bpf, perf_event_open, userfaultfd), and openat2, whose mode a filter cannot see: programs fall back.
 */
const PROCESSORS: Readonly<Partial<Record<NodeJS.Architecture, Numbers>>> = {
  x64: {
    audit: 0xc000003e,
    below: 0x40000000,
    socket: 41,
    missing: [319, 447, 29, 68, 248, 249, 250, 425, 426, 427, 321, 298, 323, 437],
    // chmod, fchmod, fchmodat, fchmodat2, mknod, mknodat, mkdir, mkdirat, creat
    modes: [
      ...([
        [90, 1],
        [91, 1],
        [268, 2],
        [452, 2],
        [133, 1],
        [259, 2],
        [83, 1],
        [258, 2],
        [85, 1],
      ] as const),
    ],
    // open, openat
    opening: [
      [2, 1, 2],
      [257, 2, 3],
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    missing: [279, 447, 194, 186, 217, 218, 219, 425, 426, 427, 280, 241, 282, 437],
    // fchmod, fchmodat, fchmodat2, mknodat, mkdirat
    modes: [
      ...([
        [52, 1],
        [53, 2],
        [452, 2],
        [33, 2],
        [34, 2],
      ] as const),
    ],
    // openat
    opening: [[56, 2, 3]],
  },
};

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: what programs need to talk to themselves. */
const ADDRESS_FAMILIES = [1, 2, 10, 16];
const SET_ID_BITS = 0o6000;
/** O_CREAT and O_TMPFILE. */
const MAKES_FILE = 0o100 | 0o20000000;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const ERRNO = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/**
 * A filter for `bwrap --seccomp`: compiled classic BPF over `struct seccomp_data`, see seccomp(2). Refuses sockets of
 * other families, files with the set-user-id or set-group-id bit, and some interfaces of the kernel. `undefined` for
 * processors whose numbers are not known here.
 */
export function seccompFilter(architecture: NodeJS.Architecture): Buffer | undefined {
  const numbers = PROCESSORS[architecture];
  if (numbers === undefined) return undefined;
  const { audit, below, socket, missing, modes, opening } = numbers;
  return Buffer.concat([
    load(4),
    ...unless(EQUAL, audit, [give(KILL)]),
    load(0),
    ...(below === undefined ? [] : when(AT_LEAST, below, [give(ERRNO | ENOSYS)])),
    ...missing.flatMap((call) => when(EQUAL, call, [give(ERRNO | ENOSYS)])),
    ...when(EQUAL, socket, [
      loadArgument(0),
      ...ADDRESS_FAMILIES.flatMap((family) => when(EQUAL, family, [give(ALLOW)])),
      give(ERRNO | EAFNOSUPPORT),
    ]),
    ...modes.flatMap(([call, mode]) => when(EQUAL, call, modeCheck(mode))),
    ...opening.flatMap(([call, flags, mode]) =>
      when(EQUAL, call, [
        loadArgument(flags),
        ...unless(ANY_BIT, MAKES_FILE, [give(ALLOW)]),
        ...modeCheck(mode),
      ]),
    ),
    give(ALLOW),
  ]);
}

function modeCheck(argument: number): Buffer[] {
  return [loadArgument(argument), ...when(ANY_BIT, SET_ID_BITS, [give(ERRNO | EPERM)]), give(ALLOW)];
}

const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;

/** Runs `then` where the loaded word compares so; otherwise goes on behind it. */
function when(comparison: number, value: number, then: readonly Buffer[]): Buffer[] {
  return [instruction(comparison, value, 0, then.length), ...then];
}

function unless(comparison: number, value: number, then: readonly Buffer[]): Buffer[] {
  return [instruction(comparison, value, then.length, 0), ...then];
}

function give(action: number): Buffer {
  return instruction(0x06, action >>> 0, 0, 0);
}

/** Loads 32 bits at an offset of `struct seccomp_data`. */
function load(offset: number): Buffer {
  return instruction(0x20, offset, 0, 0);
}

/** The lower half of an argument, which is all of a mode, flags or a family. */
function loadArgument(index: number): Buffer {
  return load(16 + 8 * index);
}

/** `struct sock_filter`, little-endian as both processors are. */
function instruction(code: number, value: number, jumpTrue: number, jumpFalse: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jumpTrue, 2);
  bytes.writeUInt8(jumpFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
